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
    for number in 0..<200 { try log.append(["number": "\(number)", "text": String(repeating: "ab", count: 400)]) }
    try log.append(String(repeating: "long", count: 40_000))
    try log.append(["number": "last"])
    try log.close()
  }

  /// Checks that `verify` finds what `print` complains about.
  private func checkVerdict() throws {
    let (verified, printed) = (try Tool.run("verify", path), try Tool.run("print", path))
    let faults = printed.errors.replacing("stowtool: \(path): ", with: "\(path): not valid: ")
    #expect(verified.code == 1 && !faults.isEmpty && verified.text == faults, "\(verified.text)")
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
    #expect(inspected.code == 0 && inspected.text.contains("last part") && inspected.text.contains("record 201, "))
    let sizes = try Tool.run("sizes", path)
    #expect(sizes.code == 0 && sizes.text.contains("blocks and frames"))
  }

  @Test("a folder of segments is read and compacted as a log")
  func segments() throws {
    let log = try RecordLog(at: url, segmentSize: 65_536)
    for number in 0..<200 { try log.append("\(number)" + String(repeating: "ab", count: 1_000)) }
    let first = try log.removeRecords(before: 100)
    try log.close()
    let run = try Tool.run("log", path)
    #expect(run.code == 0 && run.text.contains("\(200 - first) records") && run.text.contains("segments"))
    let printed = try Tool.run("print", path)
    #expect(printed.code == 0 && printed.lines.count { $0.contains("abab") } == 200 - first)
    #expect(try Tool.run("verify", path).text == "\(path): valid\n")
    #expect(try Tool.run("info", path).text.contains("log of \(200 - first) records"))
    try checkBytes(ofSegmentsFrom: first)
    let compacted = try Tool.run("compact", "--from", "190", path)
    #expect(compacted.code == 0 && compacted.text.contains("10 kept"))
    #expect(try Tool.run("print", path).lines.count { $0.contains("abab") } == 10)
    let noLog = try Tool.run("log", folder.path(""))
    #expect(noLog.code == 2 && noLog.errors.contains("a folder without segments"))
    #expect(try Tool.run("parse", path).errors.contains("a folder"))
  }

  /// `inspect`, `sizes` and `view` of the folder.
  private func checkBytes(ofSegmentsFrom first: Int) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".stowlog") }
    let segments = names.sorted().map { "\(path)/\($0)" }
    #expect(segments.count > 2 && segments[0].hasSuffix("\(first).stowlog"))
    let inspected = try Tool.run("inspect", "\(path)/")
    #expect(inspected.code == 0 && inspected.errors == "")
    let each = try segments.map { segment in
      let run = try Tool.run("inspect", segment)
      #expect(run.code == 0, "\(run.errors)")
      return "\(segment):\n\(run.text)"
    }
    #expect(inspected.text == each.joined() && inspected.text.contains("record 199, "))
    let offset = try Tool.run("inspect", "--at", "40", path)
    #expect(offset.code == 2 && offset.errors.contains("name a segment, such as \(segments[0])"))

    let sizes = try segments.map { try Data(contentsOf: URL(filePath: $0)).count }
    let run = try Tool.run("sizes", "--svg", folder.path("svg"), path)
    #expect(run.code == 0 && run.errors == "")
    let parts = run.text.split(separator: "\n\n")
    try #require(parts.count == 3)
    let digits = parts[0].filter(\.isNumber).suffix(String(sizes.reduce(0, +)).count)
    #expect(Int(digits) == sizes.reduce(0, +))
    let numbers = parts[1].split(separator: "\n").compactMap { Int($0.prefix(14).filter(\.isNumber)) }
    #expect(numbers.reduce(0, +) == sizes.reduce(0, +))
    #expect(FileManager.default.fileExists(atPath: folder.path("svg")))

    let viewed = try Tool.run("view", "-o", folder.path("page"), path)
    #expect(viewed.code == 2 && viewed.errors.contains("view one at a time: \(segments[0]), "))
    #expect(try Tool.run("view", "-o", folder.path("page"), segments[1]).code == 0)
    try checkBrokenSegments(segments)
  }

  /// Segments that are none of a log do not hide those after them.
  private func checkBrokenSegments(_ segments: [String]) throws {
    let whole = try Data(contentsOf: URL(filePath: segments[1]))
    for (bytes, reason) in [(Data("junk".utf8), "a block without a whole head"), (Data(), "no bytes")] {
      try bytes.write(to: URL(filePath: segments[1]))
      let inspected = try Tool.run("inspect", path)
      #expect(inspected.code == 1 && inspected.errors.contains("\(segments[1]): broken at offset 0: \(reason)"))
      #expect(inspected.text.contains("record 199, "))
      #expect(try Tool.run("sizes", path).code == 1)
      #expect(try Tool.run("verify", path).code == 1)
    }
    try FileManager.default.removeItem(atPath: segments[1])
    try FileManager.default.createDirectory(atPath: segments[1], withIntermediateDirectories: false)
    let unread = try Tool.run("inspect", path)
    #expect(unread.code == 2 && unread.text.contains("record 199, "))
    try FileManager.default.removeItem(atPath: segments[1])
    try whole.write(to: URL(filePath: segments[1]))
  }

  @Test("damage is reported, and compaction with --force drops it")
  func damage() throws {
    try makeLog()
    try change { $0[70_000] ^= 0xFF }
    let run = try Tool.run("log", path)
    #expect(run.code == 1 && run.text.contains("a frame is damaged"))
    try checkVerdict()
    let printed = try Tool.run("print", path)
    #expect(printed.code == 1 && printed.errors.contains("a frame is damaged"))
    let one = try Tool.run("print", "--record", "5", path)
    #expect(one.code == 0 && one.errors == "" && one.text.contains(#""number": "5""#))
    let followed = try Tool.run("print", "--follow", "--record", "0-201", path)
    #expect(followed.errors.contains("a frame is damaged") && followed.text.contains(#""number": "last""#))
    #expect(try Tool.run("inspect", path).code == 1)
    let before = try Data(contentsOf: url)
    let refused = try Tool.run("compact", "--from", "5", path)
    #expect(refused.code == 2 && refused.errors.contains("; --force drops them"), "\(refused.errors)")
    #expect(try Data(contentsOf: url).starts(with: before.dropLast(40)))
    let compacted = try Tool.run("compact", "--from", "5", "--force", path)
    #expect(compacted.code == 0 && compacted.errors.contains("a frame is damaged"), "\(compacted.errors)")
    let after = try Tool.run("log", path)
    #expect(after.code == 0 && after.text.contains("damage      none"))
    #expect(try Tool.run("print", "--record", "5", path).text == one.text)
  }

  @Test("records that a compaction left out are not counted")
  func countOfCompacted() throws {
    let log = try RecordLog(at: url)
    for number in 0..<20 { try log.append(number) }
    try log.compact { $0.number >= 15 }
    try log.close()
    #expect(try Tool.run("info", path).text.contains("log of 5 records, "))
    #expect(try Tool.run("log", path).lines[0].hasPrefix("\(path): 5 records, "))
    #expect(try Tool.run("compact", path).text == "\(path): 5 records, 5 kept\n")
    #expect(try Tool.run("compact", "--from", "18", path).text == "\(path): 5 records, 2 kept\n")
  }

  @Test("compact refuses to drop all whole records if those to be kept are damaged")
  func damagedEnd() throws {
    try makeLog()
    // The heads of the blocks still say how many records there were.
    try change { data in
      for offset in 65_536..<data.count where offset % 65_536 >= 32 { data[offset] ^= 0xFF }
    }
    try #require(try RecordLogReader(at: url).count > 200)
    let run = try Tool.run("compact", "--from", "200", path)
    #expect(run.code == 2 && run.errors.contains("no record would be left"))
    #expect(try Tool.run("print", "--record", "0", path).code == 0)
    #expect(try Tool.run("compact", "--from", "200", "--force", path).text.contains(" 0 kept"))
  }

  @Test("a log whose first bytes are damaged is still recognized as a log")
  func damagedBeginning() throws {
    try makeLog()
    try change { $0.replaceSubrange(0..<40, with: Data(count: 40)) }
    let info = try Tool.run("info", path)
    #expect(info.text.contains("log of 2 records, damaged: records 0 to 199 lost "))
    let printed = try Tool.run("print", path)
    #expect(printed.code == 1 && printed.errors.contains("damaged") && printed.text.hasSuffix("\"last\"}\n"))
    #expect(try Tool.run("inspect", path).errors.contains("broken at offset 0: a block without a whole head"))
    try checkVerdict()
    #expect(try Tool.run("compact", path).code == 2)
    let compacted = try Tool.run("compact", "--force", path)
    #expect(compacted.code == 0, "\(compacted.errors)")
    #expect(try Tool.run("log", path).code == 0)
  }

  @Test("compact and recover keep a log whose only block is damaged or that lacks a byte", arguments: [false, true])
  func allDamaged(_ isDisplaced: Bool) throws {
    let log = try RecordLog(at: url)
    for number in 0..<(isDisplaced ? 200 : 20) { try log.append("\(number)" + String(repeating: "x", count: 1_000)) }
    try log.close()
    try change { data in
      if isDisplaced { data.remove(at: 50) } else { data[50] ^= 1 }
    }
    let bytes = try Data(contentsOf: url)
    #expect(try Tool.run("verify", path).code == 1 && Tool.run("log", path).code == 1)
    let recovered = try Tool.run("recover", path)
    #expect(recovered.code == 0 && recovered.text.contains("they stay, as damage") == isDisplaced, "\(recovered.text)")
    let refused = try Tool.run("compact", path)
    #expect(refused.code == 2 && refused.errors.contains("unreadable bytes would be dropped"), "\(refused.errors)")
    #expect(try Data(contentsOf: url).starts(with: bytes))
    #expect(try Tool.run("compact", "--force", path).code == 0)
    #expect(try Data(contentsOf: url).count < 200)
  }

  /// What no writer leaves, with checksums that are right.
  @Test("records that a log should have but that cannot be read are reported")
  func lostRecords() throws {
    func record(_ number: UInt8) -> MadeUpLog.Frame { .init(1, [number, 1, 0x91]) }
    let part = [UInt8](repeating: 0x91, count: 60_000)
    // A record of 120,000 bytes.
    let first = MadeUpLog.Frame(2, [0, 1, 0xF9, 0xE3, 0xBB, 0xF9, 0xE0, 0xBB] + part)
    let last = MadeUpLog.Frame(4, [0] + part)
    let logs: [(name: String, blocks: [MadeUpLog.Block], reason: String)] = [
      ("highest number", [.init(0, [record(0)]), .init(UInt64(Int.max), [record(1)])], "without a whole head"),
      ("only number", [.init(UInt64(Int.max), [record(0)])], "without a whole head"),
      ("version", [.init(0, [record(0)]), .init(1, version: 3, [record(1)]), .init(2, [record(2)])], "version 3"),
      ("missing", [.init(0, [record(0)]), .init(3, [record(3)])], "is 3, and should be 1"),
      ("no last part", [.init(0, [first]), .init(1, [record(1)])], "the next part of record 0"),
      ("no block of the last part", [.init(0, [first])], "the next part of record 0"),
      ("no first part", [.init(0, [record(0)]), .init(2, [.init(4, [1] + part)])], "whose part before it is missing"),
      ("after a part", [.init(0, [first, record(1)]), .init(1, [last])], "not where it may stand"),
      ("many values", [.init(0, [first]), .init(1, [last])], "record 0"),
      ("packed", [.init(0, [.init(7, [0, 5, 0, 0x1F])])], "not where it may stand"),
    ]
    for log in logs {
      try folder.file("log", MadeUpLog.bytes(log.blocks))
      try checkVerdict()
      let inspected = try Tool.run("inspect", path)
      // To put records together is left to the library.
      let isSeen = log.name != "many values"
      #expect(inspected.code == (isSeen ? 1 : 0), "\(log.name): \(inspected.code)")
      #expect(!isSeen || inspected.errors.contains(log.reason), "\(log.name): \(inspected.errors)")
    }
    let good = [MadeUpLog.Block(0, [record(0)]), .init(1, [record(1), record(2)]), .init(3, [record(3)])]
    try folder.file("log", MadeUpLog.bytes(good))
    #expect(try Tool.run("verify", path).text == "\(path): valid\n")
  }

  @Test("a log is read from standard input")
  func standardInput() throws {
    try makeLog()
    let data = try Data(contentsOf: url)
    #expect(try Tool.run("verify", "-", input: data).text == "standard input: valid\n")
    #expect(try Tool.run("print", "--record", "201", "-", input: data).text.contains("last"))
    #expect(try Tool.run("log", "-", input: data).text.contains("202 records"))
  }

  @Test("errors about a log that cannot be opened use the name that was given")
  func namesOfBrokenLogs() throws {
    let broken = Data([0x7F, 2, 1, 0, 0])
    try folder.file("log", broken)
    let reason = "this is no log of records: "
    for verb in ["print", "json", "types", "log", "extract"] {
      let (piped, named) = (try Tool.run(verb, input: broken), try Tool.run(verb, path))
      #expect(piped.code == 1 && piped.errors.hasPrefix("stowtool: standard input: \(reason)"))
      #expect(named.code == 1 && named.errors.hasPrefix("stowtool: \(path): \(reason)"))
    }
    #expect(try Tool.run("info", "-", input: broken).text.hasPrefix("standard input: \(reason)"))
    #expect(try Tool.run("info", path).text.hasPrefix("\(path): \(reason)"))
  }

  @Test("recover cuts off what a crash left")
  func recovery() throws {
    try makeLog()
    try change { $0 += Data(repeating: 7, count: 100) }
    let before = try Tool.run("log", path)
    #expect(before.code == 1 && before.text.contains("100 bytes from offset"))
    let printed = try Tool.run("print", path)
    #expect(
      printed.code == 1 && printed.errors.contains("100 bytes from offset")
        && printed.text.hasSuffix("\"last\"}\n"))
    #expect(try Tool.run("diff", path, path).code == 1)
    let first = try Tool.run("print", "--record", "0-9", path)
    #expect(first.code == 0 && first.errors == "")
    let info = try Tool.run("info", path)
    #expect(info.code == 1 && info.text.contains("log of 202 records, damaged: 100 bytes from offset"))
    let run = try Tool.run("recover", path)
    #expect(run.text.contains("cut off"))
    #expect(run.code == 0 && run.text.contains("100 bytes from offset"))
    #expect(try Tool.run("log", path).code == 0)
    #expect(try Tool.run("recover", path).text.contains("nothing after"))
  }

  @Test("text for a closed standard output does not go into the log")
  func closedDescriptors() throws {
    try makeLog()
    let log = try Data(contentsOf: url)
    // Often, as the log may or may not be closed when the text is written.
    for _ in 0..<30 {
      #expect(try Tool.shell(#""$0" recover "$1" <&- >&- 2>&-"#, path).code == 2)
    }
    #expect(try Data(contentsOf: url) == log)
  }

  @Test("a file that is not a log is reported and left unchanged")
  func noLog() throws {
    try folder.file("message", StowValue(1).encoded())
    for verb in ["log", "recover", "compact"] {
      let message = try Tool.run(verb, folder.path("message"))
      #expect(message.code == 1 && message.errors.hasSuffix("message: a message, not a log\n"))
      #expect(try Tool.run(verb, folder.path("none")).code == 2)
      for (name, bytes, reason) in [
        ("json", Data("{\"level\": 1}\n".utf8), "not a log; these bytes look like JSON: stowtool from-json"),
        ("gzip", Data([0x1F, 0x8B, 8, 0]), "not a log; these bytes look like a gzip file: unpack it first"),
        ("stream", try RecordStreamEncoder().encode(1), "a stream of records, not a log"),
        ("empty", Data(), "an empty file, not a log"),
        ("bytes", Data([0xE9, 0xFF]), "not a log\n"),
      ] {
        try folder.file(name, bytes)
        let run = try Tool.run(verb, folder.path(name))
        #expect(run.code == 1 && run.errors.contains(reason), "\(verb): \(run.errors)")
      }
    }
    #expect(try Tool.run("print", "--record", "0", folder.path("json")).errors.contains("look like JSON: "))
    let piped = try Tool.run("log", input: Data("{\"level\": 1}\n".utf8))
    #expect(piped.code == 1 && piped.errors.hasPrefix("stowtool: standard input: not a log; "))
    #expect(try Data(contentsOf: folder.url.appending(path: "message")) == StowValue(1).encoded())
    #expect(!FileManager.default.fileExists(atPath: folder.path("none")))
  }

  @Test("no copy of a piped log is left if its output is not read to the end")
  func noCopyIsLeft() throws {
    let log = try RecordLog(at: url)
    for number in 0..<20_000 { try log.append("record \(number)") }
    try log.close()
    let place = folder.url.appending(path: "temporary")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    let script = #"{ cat "$1" | "$0" print; echo "code $?" >&2; } | head -n 1"#
    let run = try Tool.shell(script, path, environment: ["TMPDIR": place.path])
    #expect(run.text == "\"record 0\"\n" && run.errors == "code 2\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
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
    #expect(examples.count == 9)
    for example in examples {
      try folder.file("file", example.bytes)
      let run = try Tool.run("inspect", "--full", folder.path("file"))
      #expect(run.code == 0, "\(example.name): \(run.errors)")
      let shown = run.text.split(separator: "\n").reduce(Data()) { data, line in
        let text = line.dropFirst(10).drop { $0 == " " }
        return data + Vectors.hex(text[..<(text.range(of: "  ")?.lowerBound ?? text.endIndex)])
      }
      #expect(shown == example.bytes, "\(example.name)")
      for expected in example.lines where example.kind == "stow-stream" || expected.meaning.hasPrefix("frame") {
        #expect(run.text.contains(expected.meaning), "\(example.name)")
      }
    }
  }

  @Test("a stream's records are printed, and its faults are reported")
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
    try folder.file("stream", example.bytes.prefix(2))
    #expect(try Tool.run("verify", folder.path("stream")).text.contains("the bytes end before this does"))
  }
}

/// A log made of nothing but what a test wants.
private enum MadeUpLog {
  struct Frame {
    let kind: UInt8
    let payload: [UInt8]

    init(_ kind: UInt8, _ payload: [UInt8]) {
      self.kind = kind
      self.payload = payload
    }
  }

  struct Block {
    let firstRecord: UInt64
    let version: UInt8
    let frames: [Frame]

    init(_ firstRecord: UInt64, version: UInt8 = 1, _ frames: [Frame]) {
      self.firstRecord = firstRecord
      self.version = version
      self.frames = frames
    }
  }

  /// Blocks, each filled up with zeros but the last.
  static func bytes(_ blocks: [Block]) -> Data {
    var bytes = Data()
    for (index, block) in blocks.enumerated() {
      bytes += Data(count: index * 65_536 - bytes.count)
      let start = Data([0x7F, 0x02, block.version, 0])
      let rest = little(identity) + little(block.firstRecord) + little(UInt32(index)) + little(UInt32(0))
      bytes += start + little(checksum(start + rest)) + rest
      for frame in block.frames {
        let place = little(identity) + little(UInt64(bytes.count))
        let content = little(UInt16(frame.payload.count)) + [frame.kind] + frame.payload
        bytes += little(checksum(place + content)) + content
      }
    }
    return bytes
  }

  private static let identity: UInt64 = 7

  private static func checksum(_ bytes: Data) -> UInt32 {
    var checksum = Checksum()
    bytes.withUnsafeBytes { checksum.update($0) }
    return checksum.value
  }

  private static func little(_ number: some FixedWidthInteger) -> Data {
    withUnsafeBytes(of: number.littleEndian) { Data($0) }
  }
}
