import Stow
import StowRecords

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The values that a file holds: that of its message, or those of the records of a log or a stream.
enum Contents {
  /// The options of verbs that read values.
  static let options = [
    Option("--context", "FILE", "the message of a context that messages rely on"),
    Option("--record", "N", "of a log or a stream, only record N"),
    Option("--path", "PATH", "only what stands there: people[3].name, or people[].name for all of them"),
  ]

  static func decoder(_ arguments: Arguments) throws -> StowDecoder {
    let decoder = StowDecoder()
    if let path = arguments.value("--context") {
      let input = try Input(path)
      do {
        decoder.contexts = [try StowContext(from: input.data)]
      } catch {
        throw Failure("\(path): not the message of a context", .differs)
      }
    }
    return decoder
  }

  /// Hands each value to `body`, with the number of its record, if it is one.
  ///
  /// - Returns: Whether all of them could be read; the others were complained about.
  static func forEach(
    in path: String, _ arguments: Arguments, _ body: (StowValue, _ record: Int?) throws -> Void
  ) throws -> Bool {
    let input = try Input(path)
    let wanted = try arguments.number("--record")
    let path = try arguments.value("--path").map(Self.path)
    func handOut(_ value: StowValue, _ record: Int?) throws {
      try body(try path.map { try part(of: value, at: $0, input, record) } ?? value, record)
    }
    if input.kind == .message, wanted != nil {
      throw Failure("\(input.name): no log or stream, and has no records")
    }
    switch input.kind {
    case .message:
      try handOut(try value(of: input, decoder(arguments)), nil)
      return true
    case .log: return try forEachRecord(ofLog: input, wanted, handOut)
    case .stream: return try forEachRecord(ofStream: input, wanted, handOut)
    }
  }

  private static func path(_ text: String) throws -> StowPath {
    guard let path = StowPath(text) else {
      throw Failure("--path needs a path such as people[3].name, not \"\(text)\"")
    }
    return path
  }

  /// What stands at a path of a value.
  private static func part(
    of value: StowValue, at path: StowPath, _ input: Input, _ record: Int?
  ) throws -> StowValue {
    do {
      return try StowDecoder().decode(StowValue.self, from: value.encoded(), at: path)
    } catch {
      let place = record.map { "record \($0), " } ?? ""
      throw Failure("\(input.name): \(place)nothing at \(path): \(reason(error))", .differs)
    }
  }

  /// The value of a message.
  static func value(of input: Input, _ decoder: StowDecoder) throws -> StowValue {
    do {
      return try decoder.decode(StowValue.self, from: input.data)
    } catch {
      throw Failure("\(input.name): \(input.fault(reason(error)))", .differs)
    }
  }

  /// The only value that a file holds.
  static func value(in path: String, _ arguments: Arguments) throws -> StowValue {
    var values: [StowValue] = []
    let isWhole = try forEach(in: path, arguments) { value, _ in values.append(value) }
    if !isWhole { throw Failure("\(path): not all of it can be read", .differs) }
    guard values.count == 1 else {
      throw Failure("\(path): \(values.count) records; choose one with --record")
    }
    return values[0]
  }

  private static func forEachRecord(
    ofLog input: Input, _ wanted: Int?, _ body: (StowValue, Int?) throws -> Void
  ) throws -> Bool {
    try Logs.reading(input) { log in
      var isWhole = true
      for record in log.records(from: wanted ?? 0) {
        if let wanted, record.number != wanted { break }
        do {
          try body(try record.decode(StowValue.self), record.number)
        } catch let error as DecodingError {
          Output.complain("\(input.name): record \(record.number): \(reason(error))")
          isWhole = false
        }
        if wanted != nil { return isWhole }
      }
      if let wanted {
        throw Failure("\(input.name): no record \(wanted) that is whole among \(log.count)", .differs)
      }
      for damage in log.damage { Output.complain("\(input.name): \(damage)") }
      return isWhole && log.damage.isEmpty
    }
  }

  private static func forEachRecord(
    ofStream input: Input, _ wanted: Int?, _ body: (StowValue, Int?) throws -> Void
  ) throws -> Bool {
    let decoder = RecordStreamDecoder()
    var number = 0
    do {
      decoder.feed(input.data)
      while let value = try decoder.next(StowValue.self) {
        if wanted == nil || wanted == number { try body(value, number) }
        if wanted == number { return true }
        number += 1
      }
      try decoder.finish()
    } catch let error as Failure {
      throw error
    } catch {
      throw Failure("\(input.name): record \(number): \(reason(error))", .differs)
    }
    if let wanted { throw Failure("\(input.name): no record \(wanted) among \(number)", .differs) }
    return true
  }

  /// What a decoder found wrong, in a sentence.
  static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
      DecodingError.valueNotFound(_, let context), DecodingError.keyNotFound(_, let context):
      context.debugDescription
    default: "\(error)"
    }
  }
}
