// snippet: grdb-record
import Foundation
import GRDB

struct Station: Codable, FetchableRecord, PersistableRecord {
  struct Level: Codable, Equatable {
    var time: Date
    var metres: Double
  }

  var id: Int
  var name: String
  @StowColumn var levels: [Level]
}
// end
