import Foundation
import Stow

struct PrintedStation: Codable {
  var station: String
  var opened: Date
  var id: UUID
  var homePage: URL
  var zero: Decimal
  var key: Data
  var `class`: String
  var count: Int
  var tag: UInt64
  var digits: Int128
  var `self`: Bool
  var levels: [Double??]
  var mixed: [StowValue]
  var note: StowValue
  var none: [StowValue]
  var twins: StowValue
  var crew: [Crew]
  var days: [String: Day]
  var now: Day
  var quoteD: Int
  var quoteD2: Int
  var stowFields2: [String: Bool?]

  private enum CodingKeys: String, CodingKey {
    case station
    case opened
    case id
    case homePage = "home_page"
    case zero
    case key
    case `class`
    case count
    case tag
    case digits
    case `self`
    case levels
    case mixed
    case note
    case none
    case twins
    case crew
    case days
    case now
    case quoteD = "quote\"\\(d)\u{202E}"
    case quoteD2 = "Quote-d"
    case stowFields2 = "stowFields"
  }
}

extension PrintedStation: StowFields {
  static let stowFields = FieldTable(
    Self.init(
      station:opened:id:homePage:zero:key:class:count:tag:digits:self:levels:mixed:
      note:none:twins:crew:days:now:quoteD:quoteD2:stowFields2:),
    Field("station", \.station),
    Field("opened", \.opened),
    Field("id", \.id),
    Field("home_page", \.homePage),
    Field("zero", \.zero),
    Field("key", \.key),
    Field("class", \.`class`),
    Field("count", \.count),
    Field("tag", \.tag),
    Field("digits", \.digits),
    Field("self", \.`self`),
    Field("levels", \.levels),
    Field("mixed", \.mixed),
    Field("note", \.note),
    Field("none", \.none),
    Field("twins", \.twins),
    Field("crew", \.crew),
    Field("days", \.days),
    Field("now", \.now),
    Field("quote\"\\(d)\u{202E}", \.quoteD),
    Field("Quote-d", \.quoteD2),
    Field("stowFields", \.stowFields2))
}

struct Crew: Codable {
  var name: String
  var `inout`: Int
  var since: Date?
  var boss: StowValue?
}

extension Crew: StowFields {
  static let stowFields = FieldTable(
    Self.init(name:`inout`:since:boss:),
    Field("name", \.name),
    Field("inout", \.`inout`),
    Field("since", \.since),
    Field("boss", \.boss))
}

struct Day: Codable {
  var low: Double
  var high: Double
}

extension Day: StowFields {
  static let stowFields = FieldTable(
    Self.init(low:high:),
    Field("low", \.low),
    Field("high", \.high))
}
