import Stow
import StowRecords

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The values that files hold: those of messages, or those of the records of logs and streams.
struct Contents {
  /// The options of verbs that read values.
  static let options = [
    Walks.contextOption,
    Option(
      "--record", "N",
      "of a log or a stream, only record N; also 0-9 (the first ten), 3- (from 3 on) and -9 (the last nine)"),
    Option("--path", "PATH", "only what stands there: people[3].name, or people[].name for all of them"),
  ]

  /// Handles a value, with the number of its record, if it is one.
  typealias Body = (StowValue, _ record: Int?) throws -> Void

  private let decoder: StowDecoder
  private let wanted: RecordNumbers?
  private let path: StowPath?

  init(_ arguments: Arguments) throws {
    decoder = try Self.decoder(arguments)
    wanted = try arguments.value("--record").map(RecordNumbers.init)
    path = try arguments.value("--path").map { text in
      guard let path = StowPath(text) else {
        throw Failure("--path needs a path such as people[3].name, not \"\(text)\"")
      }
      return path
    }
  }

  /// Passes each value of a file to `body`.
  ///
  /// - Returns: Whether all of them could be read; the others were reported on standard error.
  static func forEach(in path: String, _ arguments: Arguments, _ body: Body) throws -> Bool {
    try Contents(arguments).forEach(in: Input(path), body)
  }

  /// Returns the message in a file if it is so large that it is read part by part; nil if it is not, or is
  /// something else.
  static func largeMessage(in path: String, _ arguments: Arguments) throws -> StowMessage? {
    let contents = try Contents(arguments)
    guard contents.wanted == nil, contents.path == nil else { return nil }
    let input = try Input(path)
    guard input.kind == .message, input.data.count >= leastLargeSize else { return nil }
    do {
      return try contents.decoder.message(from: input.data)
    } catch {
      throw failure(input, contents.decoder, error)
    }
  }

  /// Messages of fewer bytes are read as a whole.
  private static let leastLargeSize = 1 << 20

  /// Returns the only value that a file holds.
  static func value(in path: String, _ arguments: Arguments) throws -> StowValue {
    var values: [StowValue] = []
    let isWhole = try forEach(in: path, arguments) { value, _ in values.append(value) }
    if !isWhole { throw Failure("\(path): not all of it can be read", .differs) }
    guard values.count == 1 else {
      throw Failure("\(path): \(values.count) records; choose one with --record")
    }
    return values[0]
  }

  /// Returns the value of a message.
  static func value(of input: Input, _ decoder: StowDecoder) throws -> StowValue {
    do {
      return try decoder.decode(StowValue.self, from: input.data)
    } catch {
      throw failure(input, decoder, error)
    }
  }

  /// Returns the failure of a verb that cannot decode a file: the fault of its bytes, or else what the decoder said.
  ///
  /// - Parameter place: Where in the file the decoder was, with the words before its own.
  static func failure(
    _ input: Input, _ decoder: StowDecoder, _ error: any Error, in place: String = ""
  ) -> Failure {
    let reason = Walks.fault(in: input, decoder.contexts.first) ?? place + input.fault(reason(error))
    return Failure("\(input.name): \(reason)", .differs)
  }

  static func decoder(_ arguments: Arguments) throws -> StowDecoder {
    let decoder = StowDecoder()
    if let context = try Walks.context(arguments) { decoder.contexts = [context] }
    return decoder
  }

  private func forEach(in input: Input, _ body: Body) throws -> Bool {
    switch input.kind {
    case .message:
      if wanted != nil {
        throw Failure("\(input.name): \(input.fault("no log or stream, and has no records"))")
      }
      try body(try value(of: input), nil)
      return true
    case .log: return try forEachRecord(ofLog: input, body)
    case .stream: return try forEachRecord(ofStream: input, body)
    }
  }

  /// Returns the value of a message, or decodes only the part of it that is wanted.
  private func value(of input: Input) throws -> StowValue {
    guard let path else { return try Self.value(of: input, decoder) }
    do {
      return try decoder.decode(StowValue.self, from: input.data, at: path)
    } catch {
      if case DecodingError.dataCorrupted = error { throw Self.failure(input, decoder, error) }
      throw Failure("\(input.name): nothing at \(path): \(input.fault(Self.reason(error)))", .differs)
    }
  }

  private func forEachRecord(ofLog input: Input, _ body: Body) throws -> Bool {
    try Logs.reading(input) { log in
      var isWhole = true
      let numbers = wanted?.range(among: log.count) ?? 0..<log.count
      var found = 0
      for record in log.records(from: numbers.lowerBound) {
        guard numbers.contains(record.number) else { break }
        found += 1
        guard let value = value(of: record, input) else {
          isWhole = false
          continue
        }
        try body(value, record.number)
      }
      if let wanted, found == 0 {
        throw Failure("\(input.name): no record \(wanted) that is whole among \(log.count)", .differs)
      }
      if wanted?.single != nil { return isWhole }
      for damage in log.damage { Output.complain("\(input.name): \(damage)") }
      isWhole = isWhole && log.damage.isEmpty
      // They may have been records.
      if wanted?.ends(before: log.count) ?? false || log.recovery.bytes.isEmpty { return isWhole }
      Output.complain("\(input.name): \(log.recovery)")
      return false
    }
  }

  /// Passes on the wanted records of a log, including those that are still to be appended, until somebody
  /// stops the command or the last wanted record has come or was lost.
  ///
  /// - Returns: Whether none was lost, and all could be read; the others were complained about.
  static func follow(_ path: String, _ arguments: Arguments, _ body: Body) async throws -> Bool {
    let contents = try Contents(arguments)
    let input = try Input(path)
    guard input.kind == .log, !input.isPiped else {
      throw Failure("\(input.name): \(input.fault("only the file of a log can be followed"))")
    }
    do {
      let log = try RecordLogReader(at: URL(named: path))
      let (first, count) = (log.firstNumber, log.count)
      let numbers = contents.wanted?.rangeToFollow(from: first, among: count) ?? first..<Int.max
      var (next, reported) = (numbers.lowerBound, Set<RecordLog.Damage>())
      var (found, isWhole) = (0, true)
      if numbers.isEmpty { throw contents.noRecord(in: input) }
      for try await record in log.follow(from: numbers.lowerBound) {
        if record.number > next {
          for damage in log.damage where reported.insert(damage).inserted {
            Output.complain("\(input.name): \(damage)")
          }
        }
        next = record.number + 1
        if record.number < numbers.upperBound {
          found += 1
          if let value = contents.value(of: record, input) {
            try body(value, record.number)
          } else {
            isWhole = false
          }
        }
        // One after the last that is wanted says that those before it will not come any more.
        if next >= numbers.upperBound { break }
      }
      if contents.wanted != nil, found == 0 { throw contents.noRecord(in: input) }
      return isWhole && reported.isEmpty
    } catch let error as RecordLogError {
      throw Logs.failure(error)
    }
  }

  private func noRecord(in input: Input) -> Failure {
    Failure("\(input.name): no record \(wanted?.description ?? "") that is whole", .differs)
  }

  /// Returns the value of a record, or the part of it that is wanted. Complains, and returns nil, if there is none.
  private func value(of record: RecordLogReader.Record, _ input: Input) -> StowValue? {
    do {
      guard let path else { return try record.decode(StowValue.self) }
      return try record.message().decode(StowValue.self, at: path)
    } catch {
      complain(of: record.number, input, error)
      return nil
    }
  }

  private func complain(of record: Int, _ input: Input, _ error: any Error) {
    let place = path.map { "nothing at \($0): " } ?? ""
    Output.complain("\(input.name): record \(record): \(place)\(Self.reason(error))")
  }

  private func forEachRecord(ofStream input: Input, _ body: Body) throws -> Bool {
    // No record has to be waited for, however large it is.
    let records = RecordStreamDecoder(maximumRecordSize: .max)
    var number = 0
    var last: [(Result<StowValue, DecodingError>, Int)] = []
    var (found, isWhole) = (0, true)
    func next() throws -> Result<StowValue, DecodingError>? {
      do {
        return try records.next(StowValue.self).map { .success($0) }
      } catch let error as DecodingError {
        // It concerns this record alone.
        return .failure(error)
      }
    }
    func handle(_ record: Result<StowValue, DecodingError>, _ number: Int) throws {
      if let value = part(of: record, input, number) { try body(value, number) } else { isWhole = false }
    }
    func isAtEnd() -> Bool { wanted?.ends(before: number) ?? false }
    do {
      records.feed(input.data)
      while !isAtEnd(), let record = try next() {
        if let count = wanted?.last {
          last.append((record, number))
          // Removing one at a time would move the others each time.
          if last.count / 2 > count { last.removeFirst(last.count - count) }
        } else if wanted?.contains(number) ?? true {
          found += 1
          try handle(record, number)
        }
        number += 1
      }
      if !isAtEnd() { try records.finish() }
    } catch let error as Failure {
      throw error
    } catch {
      throw Self.failure(input, decoder, error, in: "record \(number): ")
    }
    last = last.suffix(wanted?.last ?? 0)
    for (record, number) in last { try handle(record, number) }
    if let wanted, found + last.count == 0 {
      throw Failure("\(input.name): no record \(wanted) among \(number)", .differs)
    }
    return isWhole
  }

  /// Returns a record, or the part of it that is wanted. Complains, and returns nil, if there is none.
  private func part(of record: Result<StowValue, DecodingError>, _ input: Input, _ number: Int)
    -> StowValue?
  {
    do {
      let value = try record.get()
      guard let path else { return value }
      return try StowDecoder().decode(StowValue.self, from: value.encoded(), at: path)
    } catch {
      complain(of: number, input, error)
      return nil
    }
  }

  /// Returns what a decoder found wrong, in a sentence.
  static func reason(_ error: any Error) -> String {
    switch error {
    case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
      DecodingError.valueNotFound(_, let context), DecodingError.keyNotFound(_, let context):
      context.debugDescription
    default: "\(error)"
    }
  }
}

/// Which records of a file are wanted: `3`, `3-9`, `3-` or `-9`, the last nine.
struct RecordNumbers: CustomStringConvertible {
  let description: String
  /// How many of the last records are wanted; nil if records are chosen by their numbers.
  let last: Int?
  private let first: Int
  private let end: Int

  init(_ text: String) throws {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let numbers = parts.map { $0.isEmpty ? nil : Int($0) }
    let isNumber = zip(parts, numbers).allSatisfy { $0.isEmpty || ($1 ?? -1) >= 0 }
    guard isNumber, numbers.contains(where: { $0 != nil }) else {
      throw Failure("--record needs a number, or some: 3-9, 3- or -9, not \"\(text)\"")
    }
    description = text
    last = parts[0].isEmpty ? numbers[1] : nil
    first = numbers[0] ?? 0
    let highest = parts.count == 1 ? numbers[0] : numbers[1]
    end = highest.map { $0 < .max ? $0 + 1 : $0 } ?? .max
  }

  /// The number of the only record, if only one is wanted.
  var single: Int? { last == nil && end - first == 1 ? first : nil }

  func contains(_ number: Int) -> Bool { (first..<max(first, end)).contains(number) }

  /// Returns whether no record from a number on is wanted.
  func ends(before number: Int) -> Bool { last == nil && number >= end }

  /// Returns the numbers as a range, once it is known how many records there are.
  func range(among count: Int) -> Range<Int> {
    let start = last.map { max(0, count - $0) } ?? first
    return start..<max(start, last == nil ? end : count)
  }

  /// The same where records are still to be appended: the last ones, too, go on with those. They begin with the first that is left.
  func rangeToFollow(from first: Int, among count: Int) -> Range<Int> {
    let numbers = range(among: count)
    return last == nil ? numbers : max(first, numbers.lowerBound)..<Int.max
  }
}
