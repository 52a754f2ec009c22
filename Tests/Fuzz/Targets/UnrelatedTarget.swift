import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes types that have nothing to do with a message, and drives containers over it.
enum UnrelatedTarget {
  /// Types that read all of a value.
  private static var wholeTypes: [any Decodable.Type] {
    [
      Bool.self, Int.self, UInt8.self, UInt128.self, Double.self, Float.self, String.self, Data.self,
      Date.self,
      UUID.self, URL.self, Decimal.self, [UInt8].self, [Int8].self, [UInt64].self, [Float].self,
      [Double].self,
      [[Double]].self, [String].self, [Data].self, [Date].self, [URL].self, [Decimal].self, [Int128].self,
      [[[Int?]]].self, [Bool?].self, Int???.self, [String: Int].self, [String: String].self,
      [Int: [Int]].self,
      [[String: Double]].self, [Color: Int].self, Set<String>.self, [[String: [String: URL]]].self,
    ]
  }

  private static var otherTypes: [any Decodable.Type] {
    [Range<Int>.self, [Command].self, ClosedRange<Double>.self, Walker.self, [Walker].self]
  }

  static func run(_ bytes: UnsafeRawBufferPointer) throws {
    let message = Message(bytes: bytes)
    let isValid = try Decoding.attempt { try StowDecoder().decode(StowValue.self, from: message) } != nil
    for type in wholeTypes {
      let value = try Decoding.attempt { try StowDecoder().decode(type, from: message) }
      if let value, !isValid { throw Finding("a message that is not valid is read as \(type): \(value)") }
    }
    try Decoding.survive(bytes, as: otherTypes)
  }
}

/// Reads what it finds by every call there is, and swallows all errors.
private struct Walker: Decodable {
  init(from decoder: any Decoder) throws {
    if let object = try? decoder.container(keyedBy: NameKey.self) { Self.walk(object) }
    if let object = try? decoder.container(keyedBy: FieldKey.self) { Self.walk(object) }
    if var list = try? decoder.unkeyedContainer() { Self.walk(&list) }
    let single = try decoder.singleValueContainer()
    _ = single.decodeNil()
    _ = try? single.decode(String.self)
    _ = try? single.decode(Double.self)
    _ = decoder.codingPath
  }

  private static func walk<Key: CodingKey>(_ object: KeyedDecodingContainer<Key>) {
    let keys = object.allKeys
    // Not in order, so that what is after and before is looked for.
    for key in keys.prefix(8).reversed() + keys.suffix(4) {
      _ = object.contains(key)
      _ = try? object.decodeNil(forKey: key)
      _ = try? object.decodeIfPresent(Int.self, forKey: key)
      _ = try? object.decode(Float.self, forKey: key)
      _ = try? object.decode([String].self, forKey: key)
      if var list = try? object.nestedUnkeyedContainer(forKey: key) { _ = try? list.decode(Int?.self) }
      _ = try? object.nestedContainer(keyedBy: FieldKey.self, forKey: key).decode(Bool.self, forKey: .a)
      _ = try? object.superDecoder(forKey: key).codingPath
    }
    _ = try? object.superDecoder().singleValueContainer().decode(Data.self)
  }

  private static func walk(_ list: inout any UnkeyedDecodingContainer) {
    _ = list.count
    var steps = 0
    while !list.isAtEnd, steps < 16 {
      steps += 1
      _ = try? list.decodeIfPresent(URL.self)
      if (try? list.decodeNil()) == true { continue }
      if (try? list.nestedContainer(keyedBy: NameKey.self)) != nil { continue }
      if var inner = try? list.nestedUnkeyedContainer() {
        _ = try? inner.decode(UInt64.self)
        continue
      }
      if (try? list.decode(Int.self)) != nil { continue }
      guard let decoder = try? list.superDecoder() else { return }
      _ = decoder.codingPath
      _ = try? decoder.singleValueContainer().decode(Decimal.self)
    }
  }
}
