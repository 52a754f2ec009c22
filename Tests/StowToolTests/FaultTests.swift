import Foundation
import Stow
import StowRecords
import Testing

@Suite("Offsets of faults")
struct FaultTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  /// The message cut at each byte, and with some bits of each changed.
  private func broken(_ message: Data) -> [Data] {
    let cuts = message.indices.map { Data(message[..<$0]) }
    let flips = message.indices.flatMap { index in
      stride(from: index % 3, to: 8, by: 3).map { bit in
        var message = message
        message[index] ^= 1 << UInt8(bit)
        return message
      }
    }
    return cuts + flips
  }

  /// The offset that a verb names for each file in which it finds a fault, in its output or its errors.
  private func offsets(_ words: [String], _ files: [String]) throws -> [String: Int] {
    let run = try Tool.run(words + files)
    var offsets: [String: Int] = [:]
    for line in (run.text + run.errors).split(separator: "\n") {
      let line = line.hasPrefix("stowtool: ") ? line.dropFirst(10) : line
      guard let fault = line.firstMatch(of: /^(\/[^:]*): [^"]*?(?:not valid|broken) at offset ([0-9]+)/)
      else { continue }
      offsets[String(fault.1)] = Int(fault.2)
    }
    return offsets
  }

  private func check(_ message: Data, _ options: [String] = []) throws {
    let messages = broken(message)
    for (index, message) in messages.enumerated() { try folder.file("\(index)", message) }
    let files = messages.indices.map { folder.path("\($0)") }
    let expected = try offsets(["verify"] + options, files)
    #expect(expected.count > message.count)
    for verb in ["print", "json", "inspect", "types"] {
      // `types` ends at the first file that it cannot read.
      let files = verb == "types" ? [files[files.count / 20]] : files
      let found = try offsets([verb] + options, files)
      #expect(found == expected.filter { files.contains($0.key) }, "\(verb)")
    }
  }

  @Test("verbs report the same offset for every cut and every changed byte of a message")
  func messages() throws { try check(Data(contentsOf: URL(filePath: Vectors.path(of: "Examples/station.stow")))) }

  @Test("verbs report the same offset for a fault in a message that relies on a context")
  func contexts() throws {
    let context = try StowContext(learningFrom: [
      ["name": "Ada", "born": "x"], ["name": "Alan", "born": "y"],
    ])
    try folder.file("context", context.data)
    let encoder = StowEncoder()
    encoder.context = context
    let message = try encoder.encode(["name": "Grace", "born": "1906", "tags": "navy"] as StowValue)
    try check(message, ["--context", folder.path("context")])
  }

  @Test("verbs report the same offset for a fault in a stream")
  func streams() throws {
    let encoder = RecordStreamEncoder()
    let names = ["Ada", "Alan"].map { ["name": $0, "kind": "person"] as StowValue }
    let stream = try names.reduce(Data()) { try $0 + encoder.encode($1) }
    // The first bytes say that it is a stream.
    let changed = broken(stream).filter { $0.starts(with: stream.prefix(3)) }
    for (index, stream) in changed.enumerated() { try folder.file("\(index)", stream) }
    let files = changed.indices.map { folder.path("\($0)") }
    let expected = try offsets(["verify"], files)
    #expect(expected.count > stream.count)
    for verb in ["print", "json", "inspect"] { #expect(try offsets([verb], files) == expected, "\(verb)") }
  }

  /// The walk over bytes finds nothing wrong with it.
  @Test("verbs report the same record of a stream that defines more than a reader keeps")
  func definitions() throws {
    let encoder = RecordStreamEncoder()
    let records = try (0..<2).map { number in
      let texts = (0..<700).map { StowValue.string("\(number) \($0) " + String(repeating: "x", count: 1_000)) }
      return try encoder.encode(StowValue.array(texts + texts))
    }
    // Forgetting the definitions of the first record is left out.
    #expect(records[1].first == 0)
    try folder.file("stream", records[0] + records[1].dropFirst())
    for verb in ["verify", "info", "print"] {
      let run = try Tool.run(verb, folder.path("stream"))
      #expect(run.code == 1, "\(verb)")
      #expect((run.text + run.errors).contains("record 1: Record 1 of the stream"), "\(verb): \(run.errors)")
    }
  }

  @Test("verbs for one or two files report the same offset for a fault in a file read in parts")
  func largeMessages() throws {
    let texts = (0..<10).map { StowValue.string(String(repeating: "\($0) ", count: 800)) }
    let message = try (["data": .data(Data(count: 1 << 20)), "texts": .array(texts)] as StowValue).encoded()
    try folder.file("whole", message)
    var changed = message
    changed[changed.count - 100] = 0xFF
    for (name, broken) in [("changed", changed), ("cut", message.dropLast(100))] {
      try folder.file(name, broken)
      let path = folder.path(name)
      let expected = try offsets(["verify"], [path])
      #expect(expected.count == 1)
      for words in [
        ["print"], ["json"], ["inspect"], ["sizes"], ["extract"], ["types"],
        ["print", "--path", "texts[9]"],
        ["diff", folder.path("whole")],
      ] {
        #expect(try offsets(words, [path]) == expected, "\(words)")
      }
    }
  }
}
