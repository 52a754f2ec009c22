import Foundation
import Stow
import StowRecords
import Testing

#if os(Linux)
  private let hasNamesOfBytes = true
#else
  private let hasNamesOfBytes = false
#endif

@Suite("stowtool's command line, pipes and stowtool info")
struct CommandLineTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test("a misspelled word causes an error that suggests the right one")
  func misspelled() throws {
    let verb = try Tool.run("prnt", "x")
    #expect(verb.code == 2 && verb.errors == "stowtool: there is no verb \"prnt\"; did you mean print?\n")
    #expect(try Tool.run("ver", "x").errors.contains("did you mean verify?"))
    #expect(try Tool.run("print", "--dept", "3", "x").errors.contains("did you mean --depth?"))
    for (word, hint) in [("frobnicate", "see: stowtool help"), ("cat", "did you mean print?")] {
      let far = try Tool.run(word, "x")
      #expect(far.code == 2 && far.errors == "stowtool: there is no verb \"\(word)\"; \(hint)\n")
    }
  }

  @Test("help about help prints the whole help", arguments: ["help", "--help", "-h"])
  func help(word: String) throws {
    let help = try Tool.run("help")
    #expect(help.code == 0 && help.text.contains("from-json"))
    for words in [[word], ["help", word]] { #expect(try Tool.run(words).output == help.output) }
    #expect(try Tool.run(word, "print").text.contains("--follow"))
  }

  @Test("a name that is not UTF-8 is refused, and the file can be piped in", .enabled(if: hasNamesOfBytes))
  func notUTF8() throws {
    let message = try (["name": "Ada"] as StowValue).encoded()
    let file = try folder.file("message", message)
    let refusal = "stowtool: m\u{FFFD}: not UTF-8; a file with such a name can be piped in\n"
    for (words, code, text) in [
      ("print \"$name\"", 2, refusal), ("parse -o \"$name\" message", 2, refusal),
      ("print < \"$name\"", 0, "{\"name\": \"Ada\"}\n"),
    ] {
      let script = "name=$(printf 'm\\377'); cp message \"$name\"; \"$0\" \(words) 2>&1"
      let run = try Tool.shell(script, in: file.deletingLastPathComponent())
      #expect(run.code == code && run.text.contains(text), "\(words): \(run.text)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 2)
  }

  @Test("files are read and written by name in a folder whose own name is not UTF-8", .enabled(if: hasNamesOfBytes))
  func folderNotUTF8() throws {
    let message = try (["name": "Ada"] as StowValue).encoded()
    try folder.file("message", message)
    let script = """
      inner=$(printf 'd\\377'); mkdir "$inner"; cd "$inner"; cp ../message 'a message'
      "$0" print 'a message' ./a\\ message ../message "$1" && "$0" extract --path name -o name 'a message' && "$0" print name
      """
    let run = try Tool.shell(script, folder.path("message"), in: folder.url)
    let text = String(repeating: "{\"name\": \"Ada\"}\n", count: 4) + "\"Ada\"\n"
    #expect(run.code == 0 && run.text == text, "\(run.text)\(run.errors)")
  }

  @Test("a log is opened by name in a folder whose own name is not UTF-8", .enabled(if: hasNamesOfBytes))
  func logInFolderNotUTF8() throws {
    let script = """
      inner=$(printf 'd\\377'); mkdir "$inner"; cd "$inner"
      for value in 1 2 3; do echo $value | "$0" from-json --log log || exit; done
      "$0" compact --from 1 log && mkdir folder && cp log folder/00000000000000000000.stowlog && "$0" print log ./folder
      """
    let run = try Tool.shell(script, in: folder.url)
    #expect(run.code == 0 && run.text.hasSuffix("\n2\n3\n2\n3\n"), "\(run.text)\(run.errors)")
  }

  @Test("standard input takes the place of a file that is left out")
  func pipes() throws {
    let message = try (["name": "Ada"] as StowValue).encoded()
    #expect(try Tool.run("print", input: message).text == "{\"name\": \"Ada\"}\n")
    #expect(try Tool.run("from-json", input: Data("{\"name\": \"Ada\"}".utf8)).output == message)
    try folder.file("other", (["name": "Alan"] as StowValue).encoded())
    let diff = try Tool.run("diff", folder.path("other"), input: message)
    #expect(diff.code == 1 && diff.text == "~ name: \"Alan\" → \"Ada\"\n")
    // What changes a file is always told which.
    #expect(try Tool.run("compact", input: message).code == 2)
  }

  @Test("an output file named - is standard output and cannot be a log")
  func standardOutput() throws {
    let message = try folder.file("message", (["name": "Ada"] as StowValue).encoded()).path
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    func run(_ arguments: String..., input: String = "") throws -> Tool.Run {
      try Tool.run(arguments, input: Data(input.utf8), in: folder.url)
    }
    #expect(try run("parse", "-o", "-", "-", input: "1").output == run("parse", "-", input: "1").output)
    #expect(try run("from-json", "--output=-", input: "1").output == StowValue(1).encoded())
    #expect(try run("extract", "--path", "name", "-o", "-", message).output == StowValue("Ada").encoded())
    #expect(try run("context", "learn", "-o", "-", message).output.first == 0x1F)
    #expect(try run("view", "-o", "-", message).text.hasPrefix("<!DOCTYPE html>"))
    let log = try run("parse", "--log", "-", input: "1")
    #expect(log.code == 2 && log.errors.contains("-: a pipe or device, which cannot be changed"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() == files.sorted())
  }

  @Test("a named pipe is read like a file, and piped input may be named more than once")
  func namedPipes() throws {
    let message = try (["name": "Ada"] as StowValue).encoded()
    try folder.file("message", message)
    let path = folder.path("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    for (verb, text) in [("print", #"{"name": "Ada"}"#), ("verify", "\(path): valid")] {
      // Opening a pipe waits for who reads it.
      let writer = Process()
      writer.executableURL = URL(filePath: "/bin/sh")
      writer.arguments = ["-c", #"cat "$0" > "$1""#, folder.path("message"), path]
      try writer.run()
      defer { writer.terminate() }
      let run = try Tool.run(verb, path)
      #expect(run.code == 0 && run.text == text + "\n", "\(run.errors)")
    }
    // Nobody writes to the pipe any more: whoever opens it waits for ever.
    for path in [path, "/dev/null", "-"] {
      #expect(
        try Tool.run("compact", path).errors
          == "stowtool: \(path): a pipe or device, which cannot be changed\n")
    }
    let device = try Tool.run("print", "/dev/null")
    #expect(device.code == 1 && device.errors.contains("no bytes, so not a message"))

    #expect(try Tool.run("diff", "-", "-", input: message).code == 0)
    let context = try StowContext(learningFrom: [["name": "Ada"], ["name": "Grace"]])
    let encoder = StowEncoder()
    encoder.context = context
    for name in ["one", "two"] { try folder.file(name, encoder.encode(["name": name])) }
    let run = try Tool.run("print", "--context", "-", folder.path("one"), folder.path("two"), input: context.data)
    #expect(run.code == 0 && run.lines == [#"{"name": "one"}"#, #"{"name": "two"}"#], "\(run.errors)")
  }

  @Test("two dots after a link lead to the parent of its destination")
  func parentOfLink() throws {
    let (here, other) = (folder.url.appending(path: "here"), folder.url.appending(path: "other"))
    for place in [here, other.appending(path: "inner")] {
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    }
    try FileManager.default.createSymbolicLink(
      atPath: here.appending(path: "link").path(percentEncoded: false), withDestinationPath: "../other/inner")
    try folder.file("here/value", StowValue("here").encoded())
    try folder.file("other/value", StowValue("other").encoded())
    func run(_ arguments: String..., input: String = "") throws -> String {
      let run = try Tool.run(arguments, input: Data(input.utf8), in: here)
      #expect(run.code == 0, "\(run.errors)")
      return run.text
    }
    #expect(try run("print", "link/../value") == "\"other\"\n")
    #expect(try run("print", "link/../inner/../../here/value") == "\"here\"\n")
    _ = try run("parse", "-o", "link/../written", "-", input: "1")
    _ = try run("parse", "--log", "link/../log", "-", input: "2")
    #expect(try run("print", "link/../log") == "2\n")
    let names = try FileManager.default.contentsOfDirectory(atPath: other.path(percentEncoded: false))
    #expect(Set(names) == ["inner", "value", "written", "log"])
  }

  @Test("a name that begins with a tilde is not the home folder", arguments: ["~", "~root", "~/none"])
  func tilde(name: String) throws {
    if name.contains("/") {
      try FileManager.default.createDirectory(at: folder.url.appending(path: "~"), withIntermediateDirectories: true)
    }
    func run(_ arguments: String...) throws -> Tool.Run {
      try Tool.run(arguments, input: Data("[1]".utf8), in: folder.url)
    }
    #expect(try run("parse", "-o", name, "-").code == 0)
    #expect(FileManager.default.fileExists(atPath: folder.path(name)))
    #expect(try run("print", name).text == "[1]\n")
    #expect(try run("from-json", "--log", name + "log", "-").code == 0)
    #expect(try run("compact", name + "log").code == 0)
    #expect(try run("print", name + "log").text == "[1]\n")
  }

  @Test(
    "one file that cannot be read does not prevent reading the others",
    arguments: ["print", "json", "verify", "info", "inspect", "log"])
  func severalFiles(verb: String) throws {
    let log = try makeLog()
    let alone = try Tool.run(verb, log).lines
    let run = try Tool.run(verb, log, folder.path("none"), log)
    #expect(run.code == 2 && run.errors.contains("none: no such file"))
    #expect(run.lines.filter { !$0.hasSuffix("log:") } == alone + alone)
  }

  @Test("offsets may be hexadecimal")
  func offsets() throws {
    let message = try (["name": "Ada"] as StowValue).encoded()
    let decimal = try Tool.run("inspect", "--at", "5", "-", input: message)
    #expect(decimal.code == 0 && decimal.text.contains("path"))
    #expect(try Tool.run("inspect", "--at", "0x5", "-", input: message).text == decimal.text)
    #expect(try Tool.run("inspect", "--at", "0xx", "-", input: message).code == 2)
  }

  private func makeLog() throws -> String {
    let log = try RecordLog(at: folder.url.appending(path: "log"))
    for number in 0..<20 { try log.append(["number": number]) }
    try log.close()
    return folder.path("log")
  }

  @Test("only the requested records are printed", arguments: ["log", "stream"])
  func ranges(kind: String) throws {
    if kind == "log" {
      _ = try makeLog()
    } else {
      let encoder = RecordStreamEncoder()
      try folder.file("stream", (0..<20).reduce(Data()) { try $0 + encoder.encode(["number": $1]) })
    }
    func numbers(_ wanted: String) throws -> [Int] {
      let run = try Tool.run("print", "--record", wanted, "--path", "number", folder.path(kind))
      return run.code == 0 ? run.lines.compactMap { Int($0) } : [-1]
    }
    #expect(try numbers("3") == [3])
    #expect(try numbers("3-5") == [3, 4, 5])
    #expect(try numbers("17-") == [17, 18, 19])
    #expect(try numbers("-2") == [18, 19])
    #expect(try numbers("-7") == Array(13..<20))
    #expect(try numbers("-0") == [-1])
    #expect(try numbers("-200") == Array(0..<20))
    #expect(try numbers("18-99") == [18, 19])
    #expect(try numbers("20") == [-1] && numbers("5-3") == [-1])
    for wrong in ["x", "-", "3-x", "3-5-7", "--5"] {
      #expect(try Tool.run("print", "--record", wrong, folder.path(kind)).code == 2, "\(wrong)")
    }
  }

  @Test("records without the requested part are left out and counted", arguments: ["log", "stream"])
  func missingParts(kind: String) throws {
    let log = try RecordLog(at: folder.url.appending(path: "log"))
    let stream = RecordStreamEncoder()
    var bytes = Data()
    for number in 0..<6 {
      let value: StowValue = number % 3 == 1 ? ["other": 1] : ["number": .integer(Int128(number))]
      try log.append(value)
      bytes += try stream.encode(value)
    }
    try log.close()
    try folder.file("stream", bytes)
    let path = folder.path(kind)
    let options = [["print"], ["json"], ["print", "--record", "-6"]]
    for words in options + (kind == "log" ? [["json", "--follow", "--record", "0-5"]] : []) {
      let run = try Tool.run(words + ["--path", "number", path])
      #expect(run.code == 0 && run.lines == ["0", "2", "3", "5"], "\(words)")
      #expect(run.errors == "stowtool: \(path): 2 of 6 records lack number; the first is record 1\n")
      let strict = try Tool.run(words + ["--strict", "--path", "number", path])
      #expect(strict.code == 1 && strict.lines == run.lines)
      let errors = strict.errors.split(separator: "\n")
      #expect(errors.count == 2, "\(errors)")
      for (number, error) in zip([1, 4], errors) {
        #expect(error.hasPrefix("stowtool: \(path): record \(number): nothing at number: "))
      }
    }
    let none = try Tool.run("print", "--path", "none", path)
    #expect(none.code == 1 && none.errors == "stowtool: \(path): nothing at none in 6 records\n")
    #expect(try Tool.run("types", "--path", "number", path).code == 0)
    #expect(try Tool.run("extract", "--path", "number", "--record", "1", path).code == 1)
  }

  @Test("elements without the requested part are left out and counted")
  func missingElements() throws {
    let people: StowValue = [
      ["email": "a", "tags": [["n": 1], [:]]], ["tags": []], 5, ["email": "b", "tags": .null],
    ]
    let path = try folder.file("people", people.encoded()).path
    for (part, text, gaps) in [
      ("[].email", #"["a", "b"]"#, "2 of 4 elements lack [].email; the first is [1]"),
      ("[].tags[].n", "[[1], []]", "3 of 4 elements lack [].tags[].n; the first is [0].tags[1]"),
    ] {
      let run = try Tool.run("print", "--path", part, path)
      #expect(run.code == 0 && run.text == text + "\n" && run.errors == "stowtool: \(path): \(gaps)\n", "\(run)")
      let strict = try Tool.run("print", "--strict", "--path", part, path)
      #expect(strict.code == 1 && strict.output.isEmpty && strict.errors.contains("nothing at \(part): "))
    }
    let none = try Tool.run("print", "--path", "[].none", path)
    #expect(none.code == 1 && none.output.isEmpty && none.errors.hasSuffix("nothing at [].none in 4 elements\n"))

    let log = try RecordLog(at: folder.url.appending(path: "log"))
    try log.append(contentsOf: [["list": [["n": 1], [:]]], ["list": [["n": 2]]], ["list": [[:]]]] as [StowValue])
    try log.close()
    let run = try Tool.run("json", "--path", "list[].n", folder.path("log"))
    #expect(run.code == 0 && run.lines == ["[1]", "[2]"])
    #expect(run.errors.hasSuffix("2 of 3 records lack list[].n; the first is record 0, list[1]\n"), "\(run.errors)")
  }

  @Test("a record of a stream with an invalid value is reported and skipped")
  func brokenRecord() throws {
    // {"n": 0}, a reserved tag, {"n": 2}
    let stream: [UInt8] = [
      0x7F, 0x03, 0x01, 0x04, 0xC3, 0x81, 0x6E, 0x90, 0x1A, 0x04, 0xCD, 0x78, 0x01, 0x7D, 0x35, 0xA6, 0x6B,
      0x81, 0x04, 0xC3, 0x81, 0x6E, 0x92, 0x8D, 0xDC, 0x15, 0xFB,
    ]
    try folder.file("stream", Data(stream))
    let path = folder.path("stream")
    for (words, numbers) in [([], ["0", "2"]), (["--record", "-2"], ["2"]), (["--record", "1"], [])] {
      let run = try Tool.run(["json", "--path", "n"] + words + [path])
      #expect(run.code == 1 && run.lines == numbers, "\(run.errors)")
      #expect(run.errors.hasPrefix("stowtool: \(path): record 1: "))
    }
    for wanted in ["2", "-1"] {
      #expect(try Tool.run("print", "--record", wanted, path).text == "{\"n\": 2}\n")
    }
    #expect(try Tool.run("verify", path).code == 1)
  }

  @Test("a stream may have records of any size")
  func largeRecord() throws {
    let encoder = RecordStreamEncoder()
    try folder.file("stream", encoder.encode(Data(count: (16 << 20) + 1)) + encoder.encode(5))
    #expect(try Tool.run("print", "--record", "1", folder.path("stream")).text == "5\n")
    #expect(try Tool.run("info", folder.path("stream")).code == 0)
  }

  @Test("a part is read even if the rest of the message is broken")
  func part() throws {
    let value: StowValue = ["name": "Ada", "text": "0123456789abcdefghijklmnopqrstuvwxyz!"]
    var message = try value.encoded()
    message[message.count - 2] = 0xFF
    #expect(try Tool.run("print", "-", input: message).code == 1)
    #expect(try Tool.run("print", "--path", "name", "-", input: message).text == "\"Ada\"\n")
    let missing = try Tool.run("print", "--path", "age", "-", input: message)
    #expect(missing.code == 1 && missing.errors.contains("nothing at age"))
  }

  @Test("JSON Lines are appended to a log up to the first wrong line")
  func lines() throws {
    let path = folder.path("log")
    let lines = Data("{\"number\": 1}\n\n{\"number\": 2}\n".utf8)
    #expect(try Tool.run("from-json", "--log", path, "-", input: lines).code == 0)
    let wrong = Data("{\"number\": 3}\n{\"number\": \n{\"number\": 4}\n".utf8)
    let run = try Tool.run("from-json", "--log", path, "-", input: wrong)
    #expect(
      run.code == 1 && run.errors.hasSuffix("; the log has the 1 value of the lines before it\n")
        && run.errors.contains("standard input:2:12: "), "\(run.errors)")
    for verb in ["from-json", "parse"] {
      let several = try Tool.run(verb, "-", input: lines)
      #expect(several.code == 1 && several.output.isEmpty)
      #expect(several.errors.hasSuffix("something after the value; --log LOG takes one value a line\n"))
    }
    #expect(try Tool.run("json", "--path", "number", path).lines == ["1", "2", "3"])
    let both = try Tool.run("from-json", "--log", path, "-o", folder.path("message"), "-", input: lines)
    #expect(both.code == 2 && both.errors.contains("--output"))
    #expect(try Tool.run("log", path).text.contains("3 records"))
  }

  @Test("a follower prints records that were appended before and after it began")
  func following() throws {
    let path = try makeLog()
    let process = Process()
    let pipe = Pipe()
    process.executableURL = Tool.executable
    process.arguments = ["print", "--follow", "--numbers", "--record", "18-21", "--path", "number", path]
    process.standardOutput = pipe
    try process.run()
    let log = try RecordLog(at: URL(filePath: path))
    for number in 20..<23 { try log.append(["number": number]) }
    try log.close()
    let printed = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(String(decoding: printed, as: UTF8.self) == "18: 18\n19: 19\n20: 20\n21: 21\n")
  }

  @Test("a follower ends when no more requested records can come")
  func endOfFollowing() throws {
    let path = try makeLog()
    #expect(try Tool.run("print", "--follow", "--record", "5-3", path).code == 1)
    #expect(try Tool.run("print", "--follow", path, path).code == 2)
    #expect(try Tool.run("compact", "--from", "10", path).code == 0)
    for number in ["3", "9"] {
      let gone = try Tool.run("print", "--follow", "--record", number, path)
      #expect(gone.code == 1 && gone.output.isEmpty)
      #expect(gone.errors.contains("no record \(number) that is whole"))
    }
    let part = try Tool.run("print", "--follow", "--record", "8-10", "--path", "number", path)
    #expect(part.code == 0 && part.text == "10\n")
  }

  @Test("a follower that begins with the last records continues after them", arguments: [0, 20])
  func followingTheLast(count: Int) throws {
    let path = folder.path("new")
    let log = try RecordLog(at: URL(filePath: path))
    for number in 0..<count { try log.append(["number": number]) }
    try log.flush()
    let process = Process()
    let pipe = Pipe()
    process.executableURL = Tool.executable
    process.arguments = ["print", "--follow", "--record", "-2", "--path", "number", path]
    process.standardOutput = pipe
    try process.run()
    defer { process.terminate() }
    var printed = ""
    func read(to text: String) throws {
      while printed != text, let next = try pipe.fileHandleForReading.read(upToCount: 1) {
        printed += String(decoding: next, as: UTF8.self)
      }
      #expect(printed == text)
    }
    if count > 0 { try read(to: "18\n19\n") }
    try log.append(["number": count])
    try log.flush()
    try read(to: count > 0 ? "18\n19\n20\n" : "0\n")
    try log.close()
  }

  @Test("a follower that requests more records than are left begins with the first one")
  func followingWhatIsLeft() throws {
    let path = folder.path("segments")
    let log = try RecordLog(at: URL(filePath: path), segmentSize: 65_536)
    for number in 0..<20 { try log.append("\(number)" + String(repeating: "ab", count: 5_000)) }
    let first = try log.removeRecords(before: 15)
    try log.close()
    #expect(first > 0)
    let process = Process()
    let pipe = Pipe()
    process.executableURL = Tool.executable
    process.arguments = ["print", "--follow", "--record", "-99", path]
    process.standardOutput = pipe
    try process.run()
    defer { process.terminate() }
    let printed = try pipe.fileHandleForReading.read(upToCount: 10)
    #expect(printed?.starts(with: Data("\"\(first)ab".utf8)) == true)
  }

  @Test("a log is not emptied without --force")
  func emptying() throws {
    let path = try makeLog()
    let run = try Tool.run("compact", "--from", "99", path)
    #expect(run.code == 2 && run.errors.contains("--force"))
    #expect(try Tool.run("log", path).text.contains("20 records"))
    #expect(try Tool.run("compact", "--from", "99", "--force", path).code == 0)
  }

  @Test("info names the kind of each file")
  func info() throws {
    let message = try folder.file("message", (["name": "Ada", "tags": [1, 2]] as StowValue).encoded())
    try folder.file("list", ([1, 2, 3] as StowValue).encoded())
    try folder.file("json", Data("{\"name\": \"Ada\"}".utf8))
    let stream = RecordStreamEncoder()
    try folder.file("stream", stream.encode("Ada") + stream.encode("Alan"))
    let paths = ["message", "list", "stream", "json"].map(folder.path) + [try makeLog()]
    let run = try Tool.run(["info"] + paths)
    let size = try Data(contentsOf: message).count
    #expect(run.code == 1 && run.lines.count == 5)
    #expect(run.lines[0] == "\(paths[0]): message, an object of 2 keys: \"name\", \"tags\", \(size) bytes")
    #expect(run.lines[1].hasPrefix("\(paths[1]): message, an array of 3 elements, "))
    #expect(run.lines[2].hasPrefix("\(paths[2]): stream of 2 records, "))
    #expect(
      run.lines[3]
        == "\(paths[3]): not a Stow file: it looks like JSON: stowtool from-json makes a message from it")
    #expect(run.lines[4].hasPrefix("\(paths[4]): log of 20 records, "))
  }

  @Test("info recognizes contexts and broken messages")
  func infoOfContexts() throws {
    let context = try StowContext(learningFrom: [["name": "Elbe"], ["name": "Oder"]])
    #expect(context.description.hasSuffix(": 1 shape, 1 symbol"))
    try folder.file("context", context.data)
    let path = folder.path("context")
    let size = context.data.count
    #expect(try Tool.run("info", path).text == "\(path): \(context), 1 key, \(size) bytes\n")
    #expect(try Tool.run("context", "print", path).lines == ["\(context)", #"  {"name"}"#, #"  "name""#])
    try folder.file("context", context.data.dropLast())
    let cut = try Tool.run("context", "print", path)
    #expect(cut.code == 1 && cut.errors.contains("not the message of a context; not valid at offset"))

    var message = try (["name": "Ada", "text": "0123456789abcdefghijklmnopqrstuvwxyz!"] as StowValue)
      .encoded()
    message[message.count - 2] = 0xFF
    let broken = try Tool.run("info", "-", input: message)
    #expect(broken.code == 1 && broken.text.hasPrefix("standard input: broken message: not valid at offset "))
    #expect(broken.text.contains(", in text: not UTF-8"), "\(broken.text)")
    let shortened = try Tool.run("info", "-", input: message.dropLast(3))
    #expect(shortened.text.hasPrefix("standard input: broken message: not valid at offset "))
    let longer = try Tool.run("info", "-", input: context.data.dropLast() + [0x90, 0x90])
    #expect(longer.text.hasSuffix(": 1 byte after the message\n"), "\(longer.text)")
  }

  @Test("info reports that a file of another format is not a Stow file")
  func infoOfOthers() throws {
    let image = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D])
    let program = Data([0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0])
    for (bytes, text) in [
      (image, ""), (program, ""), (Data(), ": it is empty"),
      (Data("Good, morning".utf8), ": it looks like text"),
    ] {
      let run = try Tool.run("info", "-", input: bytes)
      #expect(run.code == 1 && run.text == "standard input: not a Stow file\(text)\n")
    }
  }

  @Test("extract writes a part of a message or a record of a log as a message of its own")
  func extracted() throws {
    let people: StowValue = [
      "people": [["name": "Ada"], ["name": "Alan", "born": .date(.init(timeIntervalSince1970: 0))]]
    ]
    try folder.file("people", people.encoded())
    let part = try Tool.run("extract", "--path", "people[1]", folder.path("people"))
    #expect(part.code == 0)
    #expect(try part.output == people["people"]![1]!.encoded())
    let record = try Tool.run("extract", "--record", "3", "-o", folder.path("record"), makeLog())
    #expect(record.code == 0 && record.output.isEmpty)
    #expect(try StowDecoder().decode([String: Int].self, from: folder.url.appending(path: "record")) == ["number": 3])
    #expect(try Tool.run("extract", makeLog()).code == 2)
    #expect(try Tool.run("extract", "--path", "none", folder.path("people")).code == 1)
  }

  @Test("a context is learned from messages and logs, and its contents are printed")
  func contexts() throws {
    try folder.file("one", (["name": "Elbe", "kind": "river"] as StowValue).encoded())
    try folder.file("two", (["name": "Oder", "kind": "river"] as StowValue).encoded())
    let learnt = try Tool.run(
      "context", "learn", "-o", folder.path("context"), folder.path("one"), folder.path("two"), makeLog())
    #expect(learnt.code == 0 && learnt.errors.isEmpty)
    let context = try StowContext(from: Data(contentsOf: folder.url.appending(path: "context")))
    #expect(context.shapes.contains(["kind", "name"]) && context.shapes.contains(["number"]))
    #expect(context.symbols.contains("river"))
    let printed = try Tool.run("context", "print", folder.path("context"))
    #expect(printed.code == 0 && printed.lines[0] == "\(context)")
    #expect(printed.lines.contains("  {\"kind\", \"name\"}") && printed.lines.contains("  \"river\""))
    let encoder = StowEncoder()
    encoder.context = context
    let message = try encoder.encode(["name": "Rhein", "kind": "river"] as StowValue)
    #expect(try message.count < (["name": "Rhein", "kind": "river"] as StowValue).encoded().count)
    let text = try Tool.run("print", "--context", folder.path("context"), "-", input: message).text
    #expect(text == "{\"name\": \"Rhein\", \"kind\": \"river\"}\n")
    let piped = try Tool.run("context", "print", input: context.data)
    #expect(piped.code == 0 && piped.text == printed.text)
    let sample = try Data(contentsOf: URL(filePath: folder.path("one")))
    #expect(
      try Tool.run("context", "learn", input: sample).output
        == Tool.run("context", "learn", folder.path("one")).output)
    #expect(try Tool.run("context", input: sample).code == 2)
    #expect(try Tool.run("context", "print", folder.path("one")).code == 1)
    #expect(try Tool.run("context", "forget", folder.path("one")).code == 2)
  }

  @Test("records that JSON cannot represent are reported and skipped", arguments: ["log", "stream"])
  func recordsWithoutJSON(kind: String) throws {
    let (encoder, values) = (RecordStreamEncoder(), [1, [2, .double(.nan)], 3] as [StowValue])
    try folder.file("stream", values.reduce(Data()) { try $0 + encoder.encode($1) })
    let log = try RecordLog(at: folder.url.appending(path: "log"))
    try log.append(contentsOf: values)
    try log.close()
    let follow = kind == "log" ? [["--follow", "--record", "0-2"]] : []
    for options in [[]] + follow {
      let run = try Tool.run(["json"] + options + [folder.path(kind)])
      #expect(run.code == 1 && run.text == "1\n3\n", "\(run.text)")
      #expect(run.errors.contains("record 1: JSON has no number for the value at [1];"), "\(run.errors)")
    }
  }

  @Test("records of a log are written as JSON Lines and read back")
  func jsonLines() throws {
    let log = try RecordLog(at: folder.url.appending(path: "long"))
    for number in 0..<3 {
      try log.append(["texts": Array(repeating: "a long text", count: 40), "number": ["\(number)"]])
    }
    try log.close()
    let run = try Tool.run("json", "--lines", folder.path("long"))
    #expect(run.code == 0 && run.lines.count == 3)
    #expect(try Tool.run("from-json", "--log", folder.path("copy"), "-", input: run.output).code == 0)
    #expect(try Tool.run("diff", folder.path("long"), folder.path("copy")).code == 0)
  }

  @Test("completions and the manual page name each verb and each option")
  func generated() throws {
    for words in [["completions", "bash"], ["completions", "zsh"], ["completions", "fish"], ["man"]] {
      let run = try Tool.run(words)
      #expect(run.code == 0)
      for word in ["from-json", "--follow", "--canonical"] {
        let name = words.last == "fish" ? word.replacingOccurrences(of: "--", with: "-l ") : word
        let text = run.text.replacingOccurrences(of: "\\-", with: "-")
        #expect(text.contains(name), "\(words): \(word)")
      }
    }
    // A paragraph of help is one of the page.
    #expect(try Tool.run("man").text.contains(".PP\nprint shows"))
    #expect(try Tool.run("completions", "csh").code == 2)
    #expect(try Tool.run("completions", "fish").text.contains("-f -a 'learn print'"))
    try folder.file("bash", Tool.run("completions", "bash").output)
    for (words, expected) in [
      (["context", ""], "learn print"), (["context", "p"], "print"), (["completions", "f"], "fish"),
      (["context", "learn", ""], ""), (["ver"], "verify"), (["verify", "--q"], "--quiet"),
    ] {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(filePath: "/bin/bash")
      let script = "source '\(folder.path("bash"))'; COMP_WORDS=(stowtool \"$@\"); COMP_CWORD=$#; _stowtool"
      process.arguments = ["-c", "\(script); echo \"${COMPREPLY[*]}\"", "bash"] + words
      process.standardOutput = output
      try process.run()
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      #expect(text == expected + "\n", "\(words)")
    }
  }

  @Test("fish completions are those of the verb, whatever words follow it, if fish is installed")
  func fish() throws {
    for (line, isThere, word) in [
      ("context print --", false, "--depth"), ("context print --", true, "--force"),
      ("verify help ", false, "print"), ("verify context ", false, "learn"), ("help ", true, "print"),
      ("", true, "help"), ("context ", true, "learn"),
    ] {
      let run = try Tool.shell(
        #"""
        command -v fish >/dev/null || exit 3
        export HOME="$PWD"; "$0" completions fish >script; fish -c "source script; complete -C 'stowtool $1'"
        """#, line, in: folder.url)
      if run.code == 3 { return }
      #expect(run.lines.contains { $0.split(separator: "\t").first == word[...] } == isThere, "\(line)")
    }
  }

  @Test("completions load in a zsh that has none of its own yet, if zsh is installed")
  func zsh() throws {
    let run = try Tool.shell(
      #"""
      command -v zsh >/dev/null || exit 3
      export HOME="$PWD"; "$0" completions zsh >script; zsh -f -c '. ./script; print $_comps[stowtool]'
      """#, in: folder.url)
    #expect(run.code == 3 || run.text.contains("_stowtool") && run.errors.isEmpty, "\(run.errors)")
  }
}
