import Foundation
import Testing

@testable import StowRecords

/// Keeps the container that it was read from.
private final class Keeper: Decodable, @unchecked Sendable {
  let container: KeyedDecodingContainer<Name>

  init(from decoder: any Decoder) throws { container = try decoder.container(keyedBy: Name.self) }
}

private struct Name: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

@Suite("Containers that values keep")
struct KeptContainerTests {
  @Test("a kept container can be read while other threads decode records of the same block")
  func otherThreads() async throws {
    let first = Dictionary(uniqueKeysWithValues: (0..<20).map { ("first\($0)", $0) })
    for _ in 0..<20 {
      let log = try RecordLog(at: "/log", on: SimulatedDisk())
      // The second relies on what the first defines.
      try log.append(first)
      try log.append(first)
      for number in 0..<200 {
        try log.append(Array(repeating: ["key \(number) of many": 1, "other key \(number)": 2], count: 4))
      }
      let records = Array(log.records)
      let keeper = try records[1].decode(Keeper.self)
      let reading = Task.detached {
        var found: [String: Int] = [:]
        for _ in 0..<100 {
          for key in keeper.container.allKeys {
            found[key.stringValue] = try keeper.container.decode(Int.self, forKey: key)
          }
        }
        return found
      }
      for record in records[2...] { _ = try record.decode([[String: Int]].self) }
      #expect(try await reading.value == first)
    }
  }
}
