import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads a message in parts: each must be what stands at its path in the whole, if the whole can be read.
enum PartsTarget {
  /// No more parts than these are looked at in one message.
  private static let mostParts = 150

  static func run(_ bytes: UnsafeRawBufferPointer) throws {
    let data = Data(bytes)
    let whole = try Decoding.attempt { try StowDecoder().decode(StowValue.self, from: data) }
    guard let message = try Decoding.attempt({ try StowMessage(from: data) }) else {
      if let whole { throw Finding("\(whole) cannot be opened") }
      return
    }
    try check(message, whole: whole)
  }

  /// Goes over all parts of a message, from the outermost inwards.
  static func check(_ message: StowMessage, whole: StowValue?) throws {
    var waiting: [(StowMessage, StowValue?)] = [(message, whole)]
    var number = 0
    while number < waiting.count, number < mostParts {
      let (part, value) = waiting[number]
      number += 1
      if let value { try compare(part, value, in: message) } else { try survive(part, in: message) }
      var elements = try Decoding.attempt { try part.elements() }?.makeIterator()
      var index = 0
      while waiting.count < mostParts, let element = elements?.next() {
        waiting.append((element, value.map { Self.element(index, of: $0) }))
        index += 1
      }
    }
  }

  private static func element(_ index: Int, of value: StowValue) -> StowValue {
    switch value {
    case .array(let elements): elements[index]
    case .object(let object): object[index].value
    default: .null
    }
  }

  // MARK: a message that is valid

  private static func compare(_ part: StowMessage, _ value: StowValue, in message: StowMessage) throws {
    let path = part.path
    guard StowPath(path.description) == path else { throw Finding("\(path) is not its text") }
    try expect(part.kind(), value.kind, path, "kind")
    try expect(part.decode(StowValue.self), value, path, "part")
    try expect(message.decode(StowValue.self, at: path), value, path, "value")
    try expect(message.contains(path), true, path, "contained")
    switch value {
    case .array(let elements): try compare(part, elements, in: message)
    case .object(let object): try compare(part, object, in: message)
    default:
      guard try Decoding.attempt({ try part.count() }) == nil,
        try Decoding.attempt({ try part.keys() }) == nil,
        try Decoding.attempt({ try part.elements() }) == nil
      else { throw Finding("\(path), a scalar, has elements") }
    }
  }

  private static func compare(_ part: StowMessage, _ elements: [StowValue], in message: StowMessage) throws {
    let path = part.path
    try expect(part.count(), elements.count, path, "count")
    try expect(part.count(), elements.count, path, "count again")
    try expect(part.decode([StowValue].self, at: [.each]), elements, path, "each")
    try expect(part.contains([.index(elements.count)]), false, path, "end")
    guard let last = elements.indices.last else { return }
    for index in [last, 0, last / 2] {
      try expect(message.decode(StowValue.self, at: path.appending([.index(index)])), elements[index], path, "\(index)")
    }
  }

  private static func compare(_ part: StowMessage, _ object: StowObject, in message: StowMessage) throws {
    let path = part.path
    try expect(part.keys(), object.keys, path, "keys")
    try expect(part.count(), object.count, path, "count")
    try expect(part.decode([StowValue].self, at: [.each]), object.values, path, "each")
    let other = object.keys.reduce("") { $0 + $1 } + "?"
    try expect(part.contains([.key(other)]), false, path, "other key")
    for (key, value) in object.suffix(20) {
      try expect(message.decode(StowValue.self, at: path.appending([.key(key)])), value, path, key)
    }
  }

  private static func expect<Value: Equatable>(
    _ found: @autoclosure () throws -> Value, _ expected: Value, _ path: StowPath, _ what: String
  ) throws {
    do {
      let found = try found()
      if found != expected { throw Finding("\(path): \(what) is \(found), not \(expected)") }
    } catch let error as DecodingError {
      throw Finding("\(path): \(what) is \(expected), but throws \(error)")
    }
  }

  // MARK: any other

  private static func survive(_ part: StowMessage, in message: StowMessage) throws {
    _ = try Decoding.attempt { _ = try part.kind() }
    _ = try Decoding.attempt { _ = try part.decode(StowValue.self) }
    _ = try Decoding.attempt { _ = try part.decode(Record<Tabled>.self) }
    _ = try Decoding.attempt { _ = try message.decode(StowValue?.self, at: part.path) }
    _ = try Decoding.attempt { _ = try part.count() }
    let keys = try Decoding.attempt { try part.keys() } ?? []
    let steps: [StowPath.Step] = [.each, .index(0), .index(3)] + keys.prefix(4).map { .key($0) }
    for step in steps {
      let path = StowPath([step])
      _ = try Decoding.attempt { _ = try part.contains(path) }
      _ = try Decoding.attempt { _ = try part.decode([StowValue?].self, at: path) }
      _ = try Decoding.attempt { _ = try part.decode([[Int]].self, at: path.appending([.each])) }
    }
  }
}

/// Throws a `Finding` unless every part of a message is what stands at its path in the whole.
///
/// - Parameter whole: Nil if it cannot be read; then the parts may be errors or values.
public func checkParts(of message: StowMessage, whole: StowValue?) throws {
  try PartsTarget.check(message, whole: whole)
}
