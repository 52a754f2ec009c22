import Foundation
import Stow
import Testing

/// A value of any type the library knows, nested at will. Floats are compared by their bits.
private indirect enum AnyValue: Codable {
  case null
  case bool(Bool)
  case int(Int)
  case int8(Int8)
  case uint16(UInt16)
  case int32(Int32)
  case uint64(UInt64)
  case int128(Int128)
  case double(Double)
  case float(Float)
  case string(String)
  case data(Data)
  case date(Date)
  case uuid(UUID)
  case url(URL)
  case decimal(Decimal)
  case ints([Int])
  case doubles([Double])
  case bools([Bool])
  case strings([String])
  case optionals([Int??])
  case array([AnyValue])
  case object([String: AnyValue])
  case numbered([Int: AnyValue])
  case record(Record)
  case records([Record])

  struct Record: Codable {
    var id: Int
    var name: String?
    var score: Double?
    var flag: Bool??
    var child: AnyValue?
  }
}

extension AnyValue: Equatable {
  fileprivate static func == (a: AnyValue, b: AnyValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.int8(let a), .int8(let b)): a == b
    case (.uint16(let a), .uint16(let b)): a == b
    case (.int32(let a), .int32(let b)): a == b
    case (.uint64(let a), .uint64(let b)): a == b
    case (.int128(let a), .int128(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
    case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
    case (.string(let a), .string(let b)): Array(a.utf8) == Array(b.utf8)
    case (.data(let a), .data(let b)): a == b
    case (.date(let a), .date(let b)): a == b
    case (.uuid(let a), .uuid(let b)): a == b
    case (.url(let a), .url(let b)): a == b
    case (.decimal(let a), .decimal(let b)): a == b
    case (.ints(let a), .ints(let b)): a == b
    case (.doubles(let a), .doubles(let b)): a.map(\.bitPattern) == b.map(\.bitPattern)
    case (.bools(let a), .bools(let b)): a == b
    case (.strings(let a), .strings(let b)): a == b
    case (.optionals(let a), .optionals(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    case (.numbered(let a), .numbered(let b)): a == b
    case (.record(let a), .record(let b)): a == b
    case (.records(let a), .records(let b)): a == b
    default: false
    }
  }
}

extension AnyValue.Record: Equatable {
  fileprivate static func == (a: Self, b: Self) -> Bool {
    a.id == b.id && a.name == b.name && a.score?.bitPattern == b.score?.bitPattern && a.flag == b.flag
      && a.child == b.child
  }
}

extension SeededGenerator {
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  mutating func integer() -> Int { Int(truncatingIfNeeded: next()) >> below(64) }

  mutating func double() -> Double {
    switch below(8) {
    case 0: Double(below(1000))
    case 1: Double(integer()) / 100
    case 2: Double(below(100_000)) / 1000
    case 3: Double.random(in: -1..<1, using: &self)
    case 4: Double(Float.random(in: -1000..<1000, using: &self))
    case 5: [0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, .pi, 0.1][below(8)]
    default: Double(bitPattern: next())
    }
  }

  mutating func text() -> String {
    switch below(6) {
    case 0: ["", "a", "name", "value", "some longer text that may occur twice"][below(5)]
    case 1: String(repeating: "x", count: below(80))
    case 2: String(String.UnicodeScalarView((0..<below(20)).map { _ in scalar() }))
    default: "text \(below(40))"
    }
  }

  mutating func scalar() -> Unicode.Scalar { Unicode.Scalar(UInt32(below(0x10FFFF))) ?? "?" }

  mutating func list<T>(_ bound: Int, of element: (inout SeededGenerator) -> T) -> [T] {
    (0..<below(bound)).map { _ in element(&self) }
  }

  mutating func json(depth: Int) -> JSONValue {
    switch below(depth > 0 ? 9 : 6) {
    case 0: .null
    case 1: .bool(next() % 2 == 0)
    case 2: .int(Int64(integer()))
    case 3: .uint(UInt64(1) << 63 | next())
    case 4: .double(finite())
    case 5: .string(text())
    case 6: .array(list(6) { $0.json(depth: depth - 1) })
    case 7:
      .object(
        Dictionary(
          list(6) { ($0.text(), $0.json(depth: depth - 1)) }, uniquingKeysWith: { first, _ in first }))
    default: .array(records(depth: depth))
    }
  }

  /// A finite value with a fraction, so that no generic reader takes it for an integer.
  private mutating func finite() -> Double { Double(below(2_000_000) - 1_000_000) / 8 + 0.0625 }

  private mutating func records(depth: Int) -> [JSONValue] {
    let keys = (0..<(1 + below(5))).map { "field\($0)" }
    let columns = keys.map { _ in below(5) }
    return list(12) { random in
      var fields: [String: JSONValue] = [:]
      for (key, column) in zip(keys, columns) where random.below(20) > 0 {
        fields[key] =
          switch column {
          case 0: .bool(random.next() % 2 == 0)
          case 1: .int(Int64(random.integer()))
          case 2: .double(random.finite())
          case 3: .string(random.text())
          default: random.json(depth: depth - 1)
          }
      }
      return .object(fields)
    }
  }

  fileprivate mutating func value(depth: Int) -> AnyValue {
    switch below(depth > 0 ? 26 : 21) {
    case 0: .null
    case 1: .bool(next() % 2 == 0)
    case 2: .int(integer())
    case 3: .int8(Int8(truncatingIfNeeded: next()))
    case 4: .uint16(UInt16(truncatingIfNeeded: next()))
    case 5: .int32(Int32(truncatingIfNeeded: next()))
    case 6: .uint64(next() >> below(64))
    case 7: .int128(Int128(integer()) * Int128(integer()))
    case 8: .double(double())
    case 9:
      .float(next() % 4 == 0 ? Float(bitPattern: UInt32(truncatingIfNeeded: next())) : Float(below(1000)) / 10)
    case 10: .string(text())
    case 11: .data(Data(list(40) { UInt8(truncatingIfNeeded: $0.next()) }))
    case 12: .date(Date(timeIntervalSinceReferenceDate: Double(integer()) / 1000))
    case 13: .uuid(UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, UInt8(below(256)))))
    case 14: .url(URL(string: "https://example.org/\(below(10))")!)
    case 15: .decimal(Decimal(sign: .minus, exponent: below(60) - 30, significand: Decimal(integer())))
    case 16: .ints(list(30) { $0.integer() })
    case 17: .doubles(list(20) { $0.double() })
    case 18: .bools(list(40) { $0.next() % 2 == 0 })
    case 19: .strings(list(10) { $0.text() })
    case 20: .optionals(list(10) { [.none, .some(.none), .some(.some(7))][$0.below(3)] })
    case 21: .array(list(6) { $0.value(depth: depth - 1) })
    case 22:
      .object(
        Dictionary(
          list(6) { ($0.text(), $0.value(depth: depth - 1)) }, uniquingKeysWith: { first, _ in first }))
    case 23:
      .numbered(
        Dictionary(
          list(6) { ($0.integer(), $0.value(depth: depth - 1)) }, uniquingKeysWith: { first, _ in first }))
    case 24: .record(record(depth: depth))
    default: .records(list(10) { $0.record(depth: depth) })
    }
  }

  private mutating func record(depth: Int) -> AnyValue.Record {
    AnyValue.Record(
      id: integer(), name: next() % 2 == 0 ? nil : text(), score: next() % 3 == 0 ? nil : double(),
      flag: [.none, .some(.none), .some(true), .some(false)][below(4)],
      child: next() % 3 == 0 ? value(depth: depth - 1) : nil)
  }
}

@Suite("Random values")
struct RandomValueTests {
  @Test("random values of every type are decoded unchanged, and have the same bytes each time")
  func typed() {
    forEachCase(of: 0..<10) { (batch: Int) in
      for seed in 0..<200 {
        var random = SeededGenerator(seed: UInt64(batch * 200 + seed))
        let value = random.value(depth: 3)
        let encoder = StowEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
          let data = try encoder.encode(value)
          let copy = try StowDecoder().decode(AnyValue.self, from: data)
          if copy != value { Issue.record("batch \(batch) seed \(seed): \(copy) is not \(value)") }
          if try encoder.encode(copy) != data { Issue.record("batch \(batch) seed \(seed): other bytes") }
          let whole = try StowValue(from: data)
          if try whole.decode(AnyValue.self) != value { Issue.record("batch \(batch) seed \(seed): \(whole)") }
          let message = try whole.encoded()
          if try !StowValue(from: message).isSame(as: whole) || StowValue(from: message).encoded() != message {
            Issue.record("batch \(batch) seed \(seed): \(whole) does not come back")
          }
        } catch {
          Issue.record(error, "batch \(batch) seed \(seed): \(value)")
        }
      }
    }
  }
}

@Suite("Random generic values")
struct RandomGenericTests {
  @Test("random generic values are decoded unchanged, and the same bytes are written each time")
  func generic() {
    forEachCase(of: 0..<10) { (batch: Int) in
      for seed in 0..<100 {
        var random = SeededGenerator(seed: UInt64(1_000_000 + batch * 100 + seed))
        let value = random.json(depth: 4)
        let encoder = StowEncoder()
        encoder.outputFormatting = .sortedKeys
        do {
          let data = try encoder.encode(value)
          let copy = try StowDecoder().decode(JSONValue.self, from: data)
          if copy != value { Issue.record("batch \(batch) seed \(seed): \(copy) is not \(value)") }
          if try encoder.encode(copy) != data { Issue.record("batch \(batch) seed \(seed): other bytes") }
          if try StowValue(from: data).encoded() != data {
            Issue.record("batch \(batch) seed \(seed): other bytes of a StowValue")
          }
          let unsorted = try StowEncoder().encode(value)
          if try StowValue(from: unsorted).encoded() != unsorted {
            Issue.record("batch \(batch) seed \(seed): other bytes of a StowValue, not sorted")
          }
        } catch {
          Issue.record(error, "batch \(batch) seed \(seed): \(value)")
        }
      }
    }
  }
}
