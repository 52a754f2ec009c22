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
      "only record N of a log or stream; or 0-9 (the first ten), 3- (from 3), -9 (the last nine)"),
    Option("--path", "PATH", "only this part, such as people[3].name, or people[].name for all people"),
    Option("--strict", nil, "fail if an element or record lacks the part"),
  ]

  /// Handles a value, with the number of its record, if it is one.
  typealias Body = (StowValue, _ record: Int?) throws -> Void

  private let decoder: StowDecoder
  private let wanted: RecordNumbers?
  private let path: StowPath?
  private let isStrict: Bool
  /// Where the part that is wanted is missing.
  private let gaps = Gaps()

  init(_ arguments: Arguments) throws {
    decoder = try Self.decoder(arguments)
    isStrict = arguments.has("--strict")
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
    guard values.count == 1 else { throw Failure("\(path): \(values.count) records; choose one with --record") }
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
  static func failure(_ input: Input, _ decoder: StowDecoder, _ error: any Error, in place: String = "") -> Failure {
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
      if wanted != nil { throw Failure("\(input.name): \(input.fault("not a log or stream, so it has no records"))") }
      let value = try value(of: input)
      try reportGaps(in: input)
      try body(value, nil)
      return true
    case .log, .stream:
      let isWhole = try input.kind == .log ? forEachRecord(ofLog: input, body) : forEachRecord(ofStream: input, body)
      try reportGaps(in: input)
      return isWhole
    }
  }

  /// Returns the value of a message, or decodes only the part of it that is wanted.
  private func value(of input: Input) throws -> StowValue {
    guard let path else { return try Self.value(of: input, decoder) }
    do {
      return try part(of: decoder.message(from: input.data), at: path, gaps)
    } catch {
      if case DecodingError.dataCorrupted = error { throw Self.failure(input, decoder, error) }
      throw Failure("\(input.name): nothing at \(path): \(input.fault(Self.reason(error)))", .differs)
    }
  }

  // MARK: parts

  /// Decodes a part. Of the elements that a path leads through, those that lack the part are noted and left out.
  private func part(of message: StowMessage, at path: StowPath, _ gaps: Gaps) throws -> StowValue {
    do {
      return try message.decode(StowValue.self, at: path)
    } catch let error where Self.isMissing(error) && !isStrict && path.steps.contains(.each) {
      return try found(in: message, path.steps[...], gaps)
    }
  }

  private func found(in message: StowMessage, _ steps: ArraySlice<StowPath.Step>, _ gaps: Gaps) throws -> StowValue {
    guard let each = steps.firstIndex(of: .each) else { return try message.decode(StowValue.self, at: StowPath(steps)) }
    let (before, after) = (StowPath(steps[..<each]), steps[(each + 1)...])
    var values: [StowValue] = []
    for element in try message.elements(at: before) {
      do {
        values.append(try found(in: element, after, gaps))
        if !after.contains(.each) { gaps.note(missingIn: nil, isAnyThere: true) }
      } catch let error where Self.isMissing(error) {
        gaps.note(missingIn: Path().inside(element.path), isAnyThere: false)
      }
    }
    return .array(values)
  }

  /// Returns whether an error says that a path leads to nothing.
  private static func isMissing(_ error: any Error) -> Bool {
    switch error {
    case DecodingError.keyNotFound, DecodingError.valueNotFound, DecodingError.typeMismatch: true
    default: false
    }
  }

  /// Says how many elements or records lack the part that is wanted, and which is the first.
  private func reportGaps(in input: Input) throws {
    guard let path, let first = gaps.first else { return }
    let all = Words.count(gaps.count, input.kind == .message ? "element" : "record")
    guard gaps.isAnyThere else { throw Failure("\(input.name): nothing at \(path) in \(all)", .differs) }
    let lacking = "\(Words.number(gaps.missing)) of \(all) \(gaps.missing == 1 ? "lacks" : "lack")"
    Output.complain("\(input.name): \(lacking) \(path); the first is \(first)")
  }

  /// Passes on the value of a record, or the part of it that is wanted.
  ///
  /// - Parameter value: Reads the value, and notes the elements that lack the part.
  /// - Returns: False if it cannot be read; then it was complained about.
  private func handle(_ number: Int, _ input: Input, _ body: Body, _ value: (Gaps) throws -> StowValue) throws -> Bool {
    let found: StowValue
    let inside = Gaps()
    do {
      found = try value(inside)
    } catch let error where path != nil && !isStrict && Self.isMissing(error) {
      gaps.note(missingIn: Path([.record(number)]), isAnyThere: false)
      return true
    } catch {
      let place = path.map { "nothing at \($0): " } ?? ""
      Output.complain("\(input.name): record \(number): \(place)\(Self.reason(error))")
      return false
    }
    let isAnyThere = inside.isAnyThere || inside.first == nil
    gaps.note(missingIn: inside.first?.inside(.record(number)), isAnyThere: isAnyThere)
    if isAnyThere { try body(found, number) }
    return true
  }

  private func value(of record: RecordLogReader.Record, _ gaps: Gaps) throws -> StowValue {
    guard let path else { return try record.decode(StowValue.self) }
    return try part(of: record.message(), at: path, gaps)
  }

  // MARK: records

  private func forEachRecord(ofLog input: Input, _ body: Body) throws -> Bool {
    try Logs.reading(input) { log in
      var isWhole = true
      let numbers = wanted?.range(among: log.count) ?? 0..<log.count
      var found = 0
      for record in log.records(from: numbers.lowerBound) {
        guard numbers.contains(record.number) else { break }
        found += 1
        isWhole = try handle(record.number, input, body) { try value(of: record, $0) } && isWhole
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
          isWhole = try contents.handle(record.number, input, body) { try contents.value(of: record, $0) } && isWhole
        }
        // One after the last that is wanted says that those before it will not come any more.
        if next >= numbers.upperBound { break }
      }
      if contents.wanted != nil, found == 0 { throw contents.noRecord(in: input) }
      try contents.reportGaps(in: input)
      return isWhole && reported.isEmpty
    } catch let error as RecordLogError {
      throw Logs.failure(error)
    }
  }

  private func noRecord(in input: Input) -> Failure {
    Failure("\(input.name): no record \(wanted?.description ?? "") that is whole", .differs)
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
      let isRead = try self.handle(number, input, body) { gaps in
        let value = try record.get()
        return try path.map { try part(of: StowMessage(from: value.encoded()), at: $0, gaps) } ?? value
      }
      isWhole = isRead && isWhole
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

/// Counts the elements or records in which a path leads to nothing.
private final class Gaps {
  private(set) var count = 0
  private(set) var missing = 0
  /// The first of them.
  private(set) var first: Path?
  /// Whether the path leads to something in any of the others.
  private(set) var isAnyThere = false

  func note(missingIn place: Path?, isAnyThere: Bool) {
    count += 1
    if isAnyThere { self.isAnyThere = true }
    guard let place else { return }
    missing += 1
    if first == nil { first = place }
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

  /// The same where records are still to be appended: the last ones, too, go on with those. They begin with the first
  /// that is left.
  func rangeToFollow(from first: Int, among count: Int) -> Range<Int> {
    let numbers = range(among: count)
    return last == nil ? numbers : max(first, numbers.lowerBound)..<Int.max
  }
}
