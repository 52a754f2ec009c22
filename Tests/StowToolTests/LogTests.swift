import Foundation
import Stow
import StowRecords
import Testing

@Suite("stowtool log, recover and compact; inspect of logs and streams")
struct LogTests {
  private let folder: Folder
  private let path: String
  private let url: URL

  init() throws {
    folder = try Folder()
    path = folder.path("log")
    url = folder.url.appending(path: "log")
  }

  /// A log of some blocks, which has a record of several of them.
  private func makeLog() throws {
    let log = try RecordLog(at: url)
    for number in 0..<200 {
      try log.append(["number": "\(number)", "text": String(repeating: "ab", count: 400)])
    }
    try log.append(String(repeating: "long", count: 40_000))
    try log.append(["number": "last"])
    try log.close()
  }

  private func change(_ body: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: url)
    body(&data)
    try folder.file("log", data)
  }

  @Test("a whole log is described, verified and inspected")
  func whole() throws {
    try makeLog()
    let run = try Tool.run("log", "--records", path)
    #expect(run.code == 0 && run.text.contains("202 records") && run.text.contains("damage      none"))
    #expect(run.lines.count { $0.hasPrefix("record ") } == 202)
    let verified = try Tool.run("verify", path)
    #expect(verified.code == 0 && verified.text == "\(path): valid\n")
    let inspected = try Tool.run("inspect", path)
    #expect(
      inspected.code == 0 && inspected.text.contains("last part") && inspected.text.contains("record 201, "))
    let sizes = try Tool.run("sizes", path)
    #expect(sizes.code == 0 && sizes.text.contains("blocks and frames"))
  }

  @Test("damage is found, and compacting leaves it out")
  func damage() throws {
    try makeLog()
    try change { $0[70_000] ^= 0xFF }
    let run = try Tool.run("log", path)
    #expect(run.code == 1 && run.text.contains("a frame is damaged"))
    let verified = try Tool.run("verify", path)
    #expect(verified.code == 1 && verified.text.contains("a frame that is not whole"), "\(verified.text)")
    let printed = try Tool.run("print", path)
    #expect(printed.code == 1 && printed.errors.contains("a frame is damaged"))
    #expect(try Tool.run("inspect", path).code == 1)
    let compacted = try Tool.run("compact", "--from", "5", path)
    #expect(compacted.code == 0 && compacted.errors.contains("a frame is damaged"), "\(compacted.errors)")
    let after = try Tool.run("log", path)
    #expect(after.code == 0 && after.text.contains("damage      none"))
    #expect(try Tool.run("print", "--record", "0", path).text.contains(#""number": "5""#))
  }

  @Test("what a crash left is cut off")
  func recovery() throws {
    try makeLog()
    try change { $0 += Data(repeating: 7, count: 100) }
    let before = try Tool.run("log", path)
    #expect(before.code == 1 && before.text.contains("100 bytes behind"))
    let run = try Tool.run("recover", path)
    #expect(run.code == 0 && run.text.contains("100 bytes behind"))
    #expect(try Tool.run("log", path).code == 0)
    #expect(try Tool.run("recover", path).text.contains("nothing behind"))
  }

  @Test("what is no log is left alone")
  func noLog() throws {
    try folder.file("message", StowValue(1).message())
    for verb in ["log", "recover", "compact"] {
      let message = try Tool.run(verb, folder.path("message"))
      #expect(message.code == 1 && message.errors.contains("no log"), "\(verb): \(message.errors)")
      #expect(try Tool.run(verb, folder.path("none")).code == 2)
    }
    #expect(try Data(contentsOf: folder.url.appending(path: "message")) == StowValue(1).message())
    #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
  }

  @Test("a log that is being written cannot be changed")
  func inUse() throws {
    let log = try RecordLog(at: url)
    try log.append(1)
    try log.flush()
    let run = try Tool.run("compact", path)
    #expect(run.code == 2 && run.errors.contains("another writer"))
    #expect(try Tool.run("print", path).text == "1\n")
    try log.close()
  }

  @Test("FORMAT.md's logs and stream are inspected to the last byte")
  func examples() throws {
    let examples = try FormatExample.all().filter { $0.kind == "stow-log" || $0.kind == "stow-stream" }
    #expect(examples.count == 7)
    for example in examples {
      try folder.file("file", example.bytes)
      let run = try Tool.run("inspect", "--full", folder.path("file"))
      #expect(run.code == 0, "\(example.name): \(run.errors)")
      let shown = run.text.split(separator: "\n").reduce(Data()) { data, line in
        let text = line.dropFirst(10).drop { $0 == " " }
        return data + Vectors.hex(text[..<(text.range(of: "  ")?.lowerBound ?? text.endIndex)])
      }
      #expect(shown == example.bytes, "\(example.name)")
      for expected in example.lines where example.kind == "stow-stream" || expected.meaning.hasPrefix("frame")
      {
        #expect(run.text.contains(expected.meaning), "\(example.name)")
      }
    }
  }

  @Test("a stream's records are printed, and its faults found")
  func streams() throws {
    let example = try #require(try FormatExample.all().first { $0.kind == "stow-stream" })
    try folder.file("stream", example.bytes)
    let printed = try Tool.run("print", folder.path("stream"))
    #expect(printed.lines == [#"["Ada", "Grace"]"#, #"["Grace", "Ada"]"#, #"["Grace", "Ada"]"#])
    var bytes = example.bytes
    bytes[bytes.count - 1] ^= 1
    try folder.file("stream", bytes)
    #expect(try Tool.run("print", folder.path("stream")).code == 1)
    let verified = try Tool.run("verify", folder.path("stream"))
    #expect(verified.code == 1 && verified.text.contains("a wrong checksum"))
    try folder.file("stream", example.bytes.dropLast(6))
    #expect(try Tool.run("verify", folder.path("stream")).code == 1)
  }
}
