import Foundation
import Stow
import StowNotation
import Testing

@Suite("stowtool inspect and verify")
struct InspectTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// A line of `inspect`: bytes, and what they mean.
  private struct Line {
    let indent: Int
    var bytes: Data
    let meaning: String

    /// Nil for a line that names a file.
    init?(_ line: Substring) {
      let rest = line.dropFirst(10)
      guard line.count > 10, line.prefix(8).last?.isNumber == true else { return nil }
      let text = rest.drop { $0 == " " }
      indent = rest.count - text.count
      let gap = text.range(of: "  ")
      bytes = Vectors.hex(text[..<(gap?.lowerBound ?? text.endIndex)])
      meaning = gap.map { String(text[$0.upperBound...].drop { $0 == " " }) } ?? ""
    }
  }

  /// The lines of each file, those of one piece put together.
  private func lines(_ text: String) -> [[Line]] {
    var files: [[Line]] = []
    for line in text.split(separator: "\n") {
      if line.hasSuffix(":"), line.hasPrefix("/") {
        files.append([])
      } else if let line = Line(line) {
        if line.meaning.isEmpty, !(files.last ?? []).isEmpty {
          files[files.count - 1][files[files.count - 1].count - 1].bytes += line.bytes
        } else {
          files[files.count - 1].append(line)
        }
      }
    }
    return files
  }

  private func inspect(_ messages: [Data], _ options: String...) throws -> [[Line]] {
    for (index, message) in messages.enumerated() { try folder.file("\(index)", message) }
    try folder.file("last", Data([0x00]))
    let run = try Tool.run(
      ["inspect"] + options + messages.indices.map { folder.path("\($0)") } + [folder.path("last")])
    #expect(run.code == 0 && run.errors == "")
    return Array(lines(run.text).dropLast())
  }

  @Test("inspect explains the examples of FORMAT.md as FORMAT.md does")
  func examples() throws {
    let examples = try FormatExample.all().filter { $0.kind == "stow-example" }
    #expect(examples.count > 100)
    let files = try inspect(examples.map(\.bytes), "--full")
    #expect(files.count == examples.count)
    for (example, lines) in zip(examples, files) {
      #expect(lines.map(\.bytes) == example.lines.map(\.bytes), "\(example.name)")
      #expect(lines.map(\.indent) == example.lines.map(\.indent), "\(example.name)")
      for (line, expected) in zip(lines, example.lines) {
        // Dates, UUIDs and NaNs have more after it.
        #expect(line.meaning.hasPrefix(expected.meaning), "\(example.name)")
      }
    }
  }

  @Test("inspect explains messages with a context as FORMAT.md does")
  func contexts() throws {
    let examples = try FormatExample.all()
    let context = try #require(examples.first { $0.kind == "stow-context" })
    try folder.file("context", context.bytes)
    let relying = examples.filter { $0.kind == "stow-relying" }
    #expect(relying.count == 2)
    let files = try inspect(relying.map(\.bytes), "--context", folder.path("context"))
    for (example, lines) in zip(relying, files) {
      #expect(lines.map(\.meaning) == example.lines.map(\.meaning), "\(example.name)")
    }
    try folder.file("message", relying[0].bytes)
    let run = try Tool.run("verify", folder.path("message"))
    #expect(run.code == 1 && run.text.contains("it relies on the context 27894032"))
  }

  @Test("inspect shows every byte of every vector exactly once")
  func coverage() throws {
    let vectors = try Vectors.all.get().filter { !$0.isRefused }
    let files = try inspect(vectors.map(\.bytes), "--full")
    #expect(files.count == vectors.count)
    for (vector, lines) in zip(vectors, files) {
      #expect(lines.reduce(Data()) { $0 + $1.bytes } == vector.bytes, "\(vector.name)")
    }
  }

  @Test("verify reports a message as broken exactly if the library refuses it")
  func mutations() throws {
    var random = SeededGenerator(seed: 11)
    let vectors = try Vectors.all.get().filter { $0.bytes.count < 400 }
    var messages = vectors.map(\.bytes)
    for vector in vectors where !vector.bytes.isEmpty {
      var bytes = vector.bytes
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes = bytes.prefix(place)
      case 1: bytes.insert(.random(in: .min ... .max, using: &random), at: place)
      case 2: bytes.remove(at: place)
      default: bytes[place] = .random(in: .min ... .max, using: &random)
      }
      messages.append(Data(bytes))
    }
    for (index, message) in messages.enumerated() { try folder.file("\(index)", message) }
    var valid = 0
    for batch in stride(from: 0, to: messages.count, by: 4_000) {
      let batch = Array(messages.indices[batch..<min(batch + 4_000, messages.count)])
      let paths = batch.map { folder.path("\($0)") }
      let run = try Tool.run(["verify"] + paths)
      #expect(run.lines.count == batch.count && run.errors == "")
      for (index, line) in zip(batch, run.lines) {
        let refusal = Result { try StowValue(from: messages[index]) }
        let isValid = (try? refusal.get()) != nil
        #expect(line.hasSuffix(": valid") == isValid, "\(hex(messages[index])): \(line), \(refusal)")
        valid += isValid ? 1 : 0
      }
      // Never more than an exit: nothing traps.
      let inspected = try Tool.run(["inspect"] + paths)
      #expect(inspected.code == 1)
    }
    #expect(valid > 1_000 && valid < messages.count - 500)
  }

  private func hex(_ data: Data) -> String { data.map { String($0, radix: 16) }.joined(separator: " ") }

  @Test("inspect prints a broken message up to the fault, and verify reports its place and reason")
  func broken() throws {
    let value = try StowValue(notation: #"{"people": [{"name": "Ada"}, {"name": "Alan"}, {"name": "Grace"}]}"#)
    let message = try value.encoded()
    try folder.file("cut", message.dropLast(3))
    let run = try Tool.run("inspect", folder.path("cut"))
    #expect(run.code == 1 && run.text.contains("\"Alan\"") && run.errors.contains("broken at offset"))
    let verified = try Tool.run("verify", folder.path("cut"))
    #expect(verified.code == 1 && verified.text.contains("in people[2].name"))
    let cut = try Tool.run("verify", "--quiet", "-", input: Data([0x70, 0x05, 0x91]))
    #expect(cut.text == "standard input: not valid at offset 0: 5 bytes should follow, and there is 1\n")
    #expect(try Tool.run("verify", "-", input: Data()).code == 1)
  }

  @Test("verify distinguishes canonical messages from others")
  func canonicality() throws {
    let vectors = try Vectors.all.get().filter { !$0.isRefused }
    for (index, vector) in vectors.enumerated() { try folder.file("\(index)", vector.bytes) }
    let run = try Tool.run(["verify", "--canonical"] + vectors.indices.map { folder.path("\($0)") })
    #expect(run.lines.count == vectors.count)
    var found: [Bool: Int] = [:]
    for (vector, line) in zip(vectors, run.lines) {
      if line.hasSuffix(": valid and canonical") || line.contains("would be written otherwise") {
        // Of what no canonical writer writes, some can only be told apart by who knows the types.
        if !vector.isCanonical { found[true, default: 0] += 1 }
      } else {
        #expect(line.contains("valid, but not canonical at offset"))
        #expect(!vector.isCanonical, "\(vector.name): \(line)")
        found[false, default: 0] += 1
      }
    }
    let (unknown, flawed) = (found[true] ?? 0, found[false] ?? 0)
    #expect(flawed > 5 * unknown, "\(unknown) and \(flawed)")
    for (bytes, reason) in [
      ("05 07 00 00", "offset 0: a value in a form that is not its shortest"),
      ("70 FC 01 00 00 00 91", "offset 1: a number that is wider than need be"),
      ("E2 70 00", "offset 1, in [0]: a number beside a tag that has room for it"),
      ("1F 00 00 91", "offset 0: a prelude with nothing in it"),
      ("E3 91 92 93 ", ""), ("74 04 01 01 02 03", "offset 0: written otherwise from here on"),
    ] {
      let run = try Tool.run("verify", "--canonical", "-", input: Vectors.hex(bytes))
      let expected = reason.isEmpty ? "valid and canonical" : "valid, but not canonical at \(reason)"
      #expect(run.text == "standard input: \(expected)\n" && run.code == (reason.isEmpty ? 0 : 1))
    }
  }

  @Test("verify does not report decimal numbers whose digits end in zeros as flawed")
  func decimals() throws {
    for (bytes, verdict) in [
      ("1B 02 FF 7D", "valid and canonical"), ("1B 01 FE", "valid and canonical"),
      ("1B 03 FE E2 04", "valid; a value of unknown type would be written otherwise from offset 1 on"),
      ("1B 03 FF 7D 00", "valid, but not canonical at offset 0: a value in a form that is not its shortest"),
      ("1B 02 FE 00", "valid, but not canonical at offset 0: a value in a form that is not its shortest"),
    ] {
      let run = try Tool.run("verify", "--canonical", "-", input: Vectors.hex(bytes))
      #expect(run.text == "standard input: \(verdict)\n")
      #expect(run.code == (verdict.hasPrefix("valid, but") ? 1 : 0))
    }
  }

  @Test("inspect shows the piece at an offset and everything that contains it")
  func wanted() throws {
    try folder.file("message", StowValue(notation: #"{"list": [1, {"name": "Ada"}]}"#).encoded())
    let run = try Tool.run("inspect", "--at", "15", folder.path("message"))
    #expect(run.code == 0)
    #expect(run.lines.count == 7 && run.lines.last?.hasSuffix("path: list[1].name") == true, "\(run.text)")
    #expect(run.lines.dropLast().last?.hasSuffix("string of 3 bytes: \"Ada\"") == true)
    let beyond = try Tool.run("inspect", "--at", "99", folder.path("message"))
    #expect(beyond.code == 2 && beyond.errors.contains("no offset 99"))
  }

  @Test("inspect shows the same lines for an offset as for the whole file")
  func everyOffset() throws {
    let examples = try FormatExample.all().map(\.bytes).filter { $0.count < 100 }
    let value = StowValue.object([
      "numbers": .array((0..<40).map { .integer($0 * $0 * 1000) }), "list": ["Ada", ["Grace": 1.5], nil],
      "rows": .array((0..<5).map { ["id": .integer($0), "level": .double(Double($0) / 4)] }),
      "times": .array((0..<20).map { .integer(1_700_000_000 + $0 * 3600) }),
    ])
    let log = try Data(contentsOf: URL(filePath: Vectors.path(of: "Examples/levels.stowlog")))
    for bytes in try [value.encoded(), log] + examples {
      let path = try folder.file("file", bytes).path
      let whole = try Tool.run("inspect", path)
      // Some rely on contexts.
      if whole.code != 0 { continue }
      for offset in stride(from: bytes.count % 3, to: bytes.count, by: 3) {
        let run = try Tool.run("inspect", "--at", "\(offset)", path)
        let lines = run.lines.filter { $0.first(where: { $0 != " " })?.isNumber == true }
        #expect(run.text.contains("path: ") && !lines.isEmpty, "\(offset)")
        #expect(lines.allSatisfy { whole.lines.contains($0) }, "\(offset): \(run.text)")
      }
    }
  }

  @Test("inspect shows an offset of a message that is broken before and after it")
  func brokenElsewhere() throws {
    var message = try (["one": "aaaaaaaa", "two": "bbbb", "three": "cccccccc"] as StowValue).encoded()
    let offset = try #require(message.firstIndex(of: UInt8(ascii: "b")))
    for letter in "ac" { message[try #require(message.lastIndex(of: letter.asciiValue!))] = 0xFF }
    let run = try Tool.run("inspect", "--at", "\(offset)", "-", input: message)
    #expect(run.code == 0 && run.errors.isEmpty && run.text.hasSuffix("path: two\n"), "\(run.text)")
    #expect(try Tool.run("inspect", "-", input: message).code == 1)
  }

  @Test("inspect shows a row of 200,000 columns")
  func wideRow() throws {
    // A matrix of one row, whose cells are bytes.
    let count = 200_000
    let size = withUnsafeBytes(of: UInt32(count).littleEndian, Array.init)
    let length = withUnsafeBytes(of: UInt32(5 + 2 * count).littleEndian, Array.init)
    let matrix = Data([0x7B, 0xFC] + length + [0xFC] + size + Array(repeating: 1, count: 2 * count))
    let run = try Tool.run("inspect", "--at", "400000", "-", input: matrix)
    let row = try #require(run.lines.first { $0.contains("row: ") })
    let cells = Array(repeating: "1", count: count).joined(separator: "; ")
    #expect(run.code == 0 && row.hasSuffix("row: \(cells)"))
  }

  @Test("inspect shortens long pieces and shows them in full with --full")
  func long() throws {
    try folder.file("message", StowValue.data(Data(count: 1_000)).encoded())
    let part = try Tool.run("inspect", folder.path("message"))
    #expect(part.lines.count == 5 && part.lines.last?.contains("… 923 more bytes") == true)
    let full = try Tool.run("inspect", "--full", folder.path("message"))
    #expect(full.lines.count == 51)
  }
}

/// The same numbers each time (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
    return bits ^ bits >> 31
  }
}

/// An example of FORMAT.md: a message, and the same line by line.
struct FormatExample {
  let kind: String
  let name: String
  var bytes = Data()
  var lines: [(indent: Int, bytes: Data, meaning: String)] = []

  static func all() throws -> [FormatExample] {
    var examples: [FormatExample] = []
    var isOpen = false
    var pending = Data()
    for line in try Vectors.formatDocument().split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        let words = line.dropFirst(3).split(separator: " ")
        isOpen = words.count == 2
        if isOpen { examples.append(FormatExample(kind: String(words[0]), name: String(words[1]))) }
      } else if isOpen, line.hasPrefix("bytes:") {
        examples[examples.count - 1].bytes += Vectors.hex(line.dropFirst(6))
      } else if isOpen, !line.isEmpty, !line.contains(": "),
        !line.contains("  ")
          || line.hasPrefix("  ") && !line.dropFirst(20).contains("  ")
            && line.drop(while: { $0 == " " }).range(of: "  ") == nil
      {
        // Bytes that go on in the next line.
        pending += Vectors.hex(line)
      } else if isOpen, !line.isEmpty, !line.hasPrefix("value:"), let first = line.first,
        first == " " || first.isHexDigit
      {
        let text = line.drop { $0 == " " }
        guard let gap = text.range(of: "  ") else { continue }
        examples[examples.count - 1].lines.append(
          (
            line.count - text.count, pending + Vectors.hex(text[..<gap.lowerBound]),
            String(text[gap.upperBound...].drop { $0 == " " })
          ))
        pending = Data()
      }
    }
    return examples
  }
}
