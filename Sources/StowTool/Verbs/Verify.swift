import Stow
import StowRecords

/// `verify`: whether messages are valid, and canonical.
enum Verify {
  static let verb = Verb(
    name: "verify", operands: "[options] FILE …", files: 1...Int.max,
    summary: "check messages, logs and streams, and report what is wrong",
    details: """
      Reads mapped files from end to end. Memory is needed for the prelude, for the keys of the largest map, and for one
      record of a log or stream, whatever the size of the file.

      --canonical also decodes the value and encodes it again, which needs memory for the whole value. The result is unknown
      for some messages of types with fixed keys, such as structs.
      """,
    options: [
      Option("--canonical", nil, "also check that a canonical writer would have written the same bytes"),
      Option("--quiet", nil, "print only files that fail", short: "-q"),
      Walks.contextOption,
    ],
    run: run)

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let context = try Walks.context(arguments)
    return await arguments.forEachFile { path, output in
      let input = try Input(path)
      let (texts, isFine) = try verdict(input, context, arguments)
      if !isFine || !arguments.has("--quiet") {
        for text in texts { output.line("\(input.name): \(text)") }
      }
      return isFine ? .fine : .differs
    }
  }

  private static func verdict(
    _ input: Input, _ context: StowContext?, _ arguments: Arguments
  ) throws -> (texts: [String], isFine: Bool) {
    if input.kind == .log {
      let faults: [String]
      do { faults = try Logs.faults(in: input) } catch let failure as Failure where failure.code == .differs {
        faults = [failure.reason(of: input.name)]
      }
      if !faults.isEmpty { return (faults.map { "not valid: \($0)" }, false) }
    }
    if input.segments == nil, let fault = Walks.fault(in: input, context) { return ([fault], false) }
    // The walk does not count how many definitions are kept.
    if input.kind == .stream {
      do { _ = try Info.recordCount(ofStream: input) } catch let failure as Failure {
        return (["not valid: \(failure.reason)"], false)
      }
    }
    guard arguments.has("--canonical"), input.kind == .message else { return (["valid"], true) }
    return switch try Canonicality.of(input, context, Contents.decoder(arguments)) {
    case .canonical: (["valid and canonical"], true)
    case .flawed(let reason): (["valid, but not canonical at \(reason)"], false)
    case .unknown(let offset):
      (["valid; a value of unknown type would be written otherwise from offset \(offset) on"], true)
    }
  }
}

/// Whether a valid message is what a canonical writer would have written.
enum Canonicality {
  case canonical
  /// The message is not canonical, as the text says.
  case flawed(String)
  /// The message is not what a `StowValue` writes from an offset on, but may be what a writer that knows the
  /// type writes.
  case unknown(from: Int)

  /// - Parameter input: A valid message.
  static func of(_ input: Input, _ context: StowContext?, _ decoder: StowDecoder) throws -> Canonicality {
    var follower = FlawFollower()
    _ = Walks.walk(input, context) { _ in
      FlawFollower()
    } finish: {
      follower = $0
    }
    if let flaw = follower.first {
      let place = flaw.path.count > 0 ? ", in \(flaw.path)" : ""
      return .flawed("offset \(flaw.offset)\(place): \(flaw.reason)")
    }
    let encoder = StowEncoder()
    encoder.context = context
    let value = try Contents.value(of: input, decoder)
    // A writer counts packed arrays and rows as levels, which a reader does not.
    guard let written = try? encoder.encode(value) else { return .flawed("offset 0: more levels than are written") }
    guard written != input.data else { return .canonical }
    let offset = zip(written, input.data).prefix { $0 == $1 }.reduce(0) { count, _ in count + 1 }
    return follower.mayHaveKnownMore || context != nil
      ? .unknown(from: offset) : .flawed("offset \(offset): written otherwise from here on")
  }
}

/// Follows a walk to the first flaw that it meets.
struct FlawFollower: StructureVisitor {
  private var path = Path()
  private(set) var first: (offset: Int, path: Path, reason: String)?
  /// Whether a writer may have known more than a `StowValue` does: what kind of keys an object has, or zeros
  /// at the end of a decimal number's digits.
  private(set) var mayHaveKnownMore = false

  static var seeksFlaws: Bool { true }

  mutating func flaw(at offset: Int, _ reason: String) { if first == nil { first = (offset, path, reason) } }

  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String) {
    if kind == .key || kind == .decimal || kind == .shapes && bytes.count > 1 { mayHaveKnownMore = true }
  }

  var depth: Int { path.count }
  mutating func enter(_ place: Place) { path.enter(place) }
  mutating func leave() { path.leave() }
}

/// `info`: what files are.
enum Info {
  static let verb = Verb(
    name: "info", operands: "[options] FILE …", files: 1...Int.max,
    summary: "identify files, and check whether they are valid",
    details: """
      Prints a line for each file. Of a message larger than 64 MiB, it reads only the beginning; stowtool verify reads all.
      For a context, it counts the shapes, symbols and keys.
      """,
    options: [Walks.contextOption]
  ) { arguments in
    let decoder = try Contents.decoder(arguments)
    return await arguments.forEachFile { path, output in
      let input = try Input(path)
      do {
        let (text, isWhole) = try text(of: input, decoder)
        output.line("\(input.name): \(text), \(Words.count(input.sizes.reduce(0, +), "byte"))")
        return isWhole ? .fine : .differs
      } catch let failure as Failure where failure.code == .differs {
        output.line("\(input.name): \(failure.reason(of: input.name))")
        return .differs
      }
    }
  }

  private static func text(of input: Input, _ decoder: StowDecoder) throws -> (text: String, isWhole: Bool) {
    switch input.kind {
    case .log:
      return try Logs.reading(input) { log in
        let count = log.records.reduce(0) { count, _ in count + 1 }
        let fault = log.damage.first.map { "\($0)" } ?? (log.recovery.bytes.isEmpty ? nil : "\(log.recovery)")
        let text = "log of \(Words.count(count, "record"))"
        return (fault.map { "\(text), damaged: \($0)" } ?? text, fault == nil)
      }
    case .stream:
      do {
        return ("stream of \(Words.count(try recordCount(ofStream: input), "record"))", true)
      } catch let failure as Failure {
        throw Failure("stream, \(Walks.fault(in: input, nil) ?? failure.reason)", .differs)
      }
    case .message:
      if let held = try? StowContext(from: input.data) {
        let keys = Words.count(held.shapes.reduce(0) { $0 + $1.count }, "key")
        return ("\(held), \(keys)", true)
      }
      let isSmall = input.data.count <= mostWalked
      do {
        if isSmall, let fault = Walks.fault(in: input, decoder.contexts.first) { throw broken(input, fault) }
        let text = try text(of: decoder.message(from: input.data))
        return (isSmall ? text : "\(text), read at its front only", true)
      } catch let error as DecodingError {
        throw broken(input, Walks.fault(in: input, decoder.contexts.first) ?? Contents.reason(error))
      }
    }
  }

  /// Counts the records of a stream as their library reads them.
  static func recordCount(ofStream input: Input) throws -> Int {
    let records = RecordStreamDecoder(maximumRecordSize: .max)
    records.feed(input.data)
    var count = 0
    do {
      while try records.next(StowValue.self) != nil { count += 1 }
      try records.finish()
    } catch {
      throw Failure("broken at record \(count): \(Contents.reason(error))", .differs)
    }
    return count
  }

  /// The largest message that is read to its end, in bytes.
  private static let mostWalked = 64 << 20

  /// Returns what is said of bytes that are not valid: they may never have been a message.
  private static func broken(_ input: Input, _ fault: String) -> Failure {
    let foreign = "not a Stow file"
    if input.data.isEmpty { return Failure("\(foreign): it is empty", .differs) }
    if let other = Advice.on(input.data) {
      return Failure("\(foreign): it looks like \(other.name)\(other.remedy)", .differs)
    }
    let isKnown = input.mayBeMessage
    return Failure(isKnown ? "broken message: \(fault)" : foreign, .differs)
  }

  /// The most keys of an object that are named.
  private static let mostKeys = 8

  private static func text(of message: StowMessage) throws -> String {
    switch try message.kind() {
    case .array: return "message, an array of \(Words.count(try message.count(), "element"))"
    case .object:
      let keys = try message.keys()
      let names = keys.prefix(mostKeys).map { Words.quoted($0, 20) } + (keys.count > mostKeys ? ["…"] : [])
      let list = names.isEmpty ? "" : ": \(names.joined(separator: ", "))"
      return "message, an object of \(Words.count(keys.count, "key"))\(list)"
    case let kind: return "message, \(kind)"
    }
  }
}
