import Stow
import StowRecords

/// `info`: what files are.
enum Info {
  static let verb = Verb(
    name: "info", operands: "[options] FILE …", files: 1...Int.max,
    summary: "says what files are, and whether they are valid",
    details: """
      A line for each file, and whether it is valid. Of a message of more than 64 MiB only the front is read: stowtool
      verify reads all of it. The message of a context is called one, with the numbers of its shapes, symbols and keys.
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
        output.line("\(input.name): \(failure.reason)")
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
      let records = RecordStreamDecoder(maximumRecordSize: .max)
      records.feed(input.data)
      var count = 0
      do {
        while try records.next(StowValue.self) != nil { count += 1 }
        try records.finish()
      } catch {
        let reason = Walks.fault(in: input, nil) ?? "broken at record \(count): \(Contents.reason(error))"
        throw Failure("stream, \(reason)", .differs)
      }
      return ("stream of \(Words.count(count, "record"))", true)
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

  /// The largest message that is read to its end, in bytes.
  private static let mostWalked = 64 << 20

  private static func broken(_ input: Input, _ fault: String) -> Failure {
    let isMessage = !input.data.isEmpty && Advice.on(input.data) == nil
    return Failure("\(isMessage ? "broken message" : "no message"): \(fault)", .differs)
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
