import Foundation
import Stow
import StowNotation
import StowRecords
import Testing

@Suite("stowtool print, parse, json and from-json")
struct PrintTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private func message(_ notation: String, _ name: String = "message") throws -> String {
    try folder.file(name, StowValue(notation: notation).encoded())
    return folder.path(name)
  }

  @Test("every vector is printed as the library describes it and parsed back to the same bytes")
  func vectors() throws {
    let vectors = try Vectors.elements()
    #expect(vectors.count > 1_000)
    let values = vectors.map(\.value)
    for (index, vector) in vectors.enumerated() { try folder.file("\(index)", vector.bytes) }
    let paths = vectors.indices.map { folder.path("\($0)") }
    let run = try Tool.run(["print", "--width", "0"] + paths)
    #expect(run.code == 0 && run.errors == "")
    #expect(run.lines == values.map(\.description))
    // All of them in one message, as every launch costs.
    let whole = StowValue.array(values)
    let parsed = try Tool.run("parse", "-", input: Data("[\(run.lines.joined(separator: ","))]".utf8))
    #expect(parsed.code == 0)
    #expect(try parsed.output == whole.encoded())
  }

  @Test("every vector has the same bytes after conversion to typed JSON and back")
  func typedJSON() throws {
    var values = try Vectors.elements().map(\.value)
    values += [
      ["$date": 1], ["$date": "x"], ["$object": ["$date": 1]], ["$": .null], ["$x": 1, "y": 2],
      ["a": ["$uuid": ["$object": [:]]]], .date(Date(timeIntervalSinceReferenceDate: .nan)),
      .date(Date(timeIntervalSinceReferenceDate: -0.0)), .date(Date(timeIntervalSinceReferenceDate: 1e300)),
    ]
    let message = try StowValue.array(values).encoded()
    let json = try Tool.run("json", "--typed", "-", input: message)
    #expect(json.code == 0)
    _ = try JSONSerialization.jsonObject(with: json.output)
    let back = try Tool.run("from-json", "--typed", "-", input: json.output)
    #expect(back.code == 0 && back.errors == "")
    #expect(back.output == message)
  }

  @Test("plain JSON equals the output of JSONEncoder")
  func plainJSON() throws {
    let text = #"""
      {"a": [1, -2.5, null, null(2), "é\n"], "date": date"2001-01-01T00:00:01.5Z", "data": data"AAEC", \#
      "id": uuid"00112233-4455-6677-8899-AABBCCDDEEFF", "url": url"u:v", "decimal": decimal"12.51", "o": {}}
      """#
    let run = try Tool.run("json", "--width", "0", message(text))
    #expect(
      run.text == #"""
        {"a": [1, -2.5, null, null, "é\n"], "date": 1.5, "data": "AAEC", \#
        "id": "00112233-4455-6677-8899-AABBCCDDEEFF", "url": "u:v", "decimal": 12.51, "o": {}}

        """#)
    let value = try StowValue(notation: text)
    let ours = try JSONSerialization.jsonObject(with: run.output) as? NSDictionary
    let theirs = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? NSDictionary
    #expect(ours == theirs)
    let failed = try Tool.run("json", message(#"{"a": [{"b c": nan}]}"#))
    #expect(failed.code == 1 && failed.errors.contains(#"a[0]["b c"]"#) && failed.output.isEmpty)
    // It is looked for once, however deep it is.
    let (open, close) = (String(repeating: #"[{"a": "#, count: 200), String(repeating: "}]", count: 200))
    let deep = try Tool.run("json", message("\(open)nan\(close)"))
    #expect(deep.code == 1 && deep.errors.contains(String(repeating: "[0].a", count: 200)))
  }

  @Test("invalid texts are refused with the position of the fault")
  func badTexts() throws {
    for (verb, text, reason) in [
      ("parse", "{\"a\":\n 1,, }", "standard input:2:4: expected a key in quotes"),
      ("from-json", "[nan]", "standard input:1:2: JSON has no such word"),
      ("from-json", "[null(1)]", "standard input:1:2: JSON has no such word"),
      ("parse", "\"\u{0}", "control character"),
    ] {
      let run = try Tool.run(verb, "-", input: Data(text.utf8))
      #expect(run.code == 1 && run.output.isEmpty && run.errors.contains(reason), "\(run.errors)")
    }
    let typed = try Tool.run("from-json", "--typed", "-", input: Data(#"[{"$uuid": "x"}]"#.utf8))
    #expect(typed.code == 1 && typed.errors.contains(#"{"$uuid": …} does not hold a uuid"#))
    // The mark at the beginning is no part of the text, and an escaped key is a key like others.
    let marked = Data("\u{FEFF}{\"\\u0024float\": \"nan\"}".utf8)
    let value = try Tool.run("from-json", "--typed", "-", input: marked)
    #expect(try value.output == StowValue.double(.nan).encoded())
    // With an accent above the dollar it is another key.
    let other = try Tool.run("from-json", "--typed", "-", input: Data("{\"$\u{301}null\": 2}".utf8))
    #expect(try other.output == (["$\u{301}null": 2] as StowValue).encoded())
  }

  @Test("a text's first error is reported even if bytes after it are not UTF-8")
  func textsOfBytes() throws {
    for (text, reason) in [
      (Array("[1,, \"".utf8) + [0xFF, 0x22], "1:4: expected a value"),
      (Array("[1,\n  \"é\", \"\\u00e9".utf8) + [0xE9, 0x22], "2:8: a string that is not UTF-8"),
      (Array("{\"".utf8) + [0xC3] + Array("\": 1}".utf8), "1:2: a string that is not UTF-8"),
      ([0xFF, 0xFE, 0x5B, 0x00, 0x5D, 0x00], "1:1: not UTF-8"),
    ] {
      for verb in ["parse", "from-json"] {
        let run = try Tool.run(verb, "-", input: Data(text))
        #expect(run.code == 1 && run.errors == "stowtool: standard input:\(reason)\n", "\(run.errors)")
      }
    }
  }

  @Test("deep parts are counted instead of printed, and long lines are broken")
  func folding() throws {
    let path = try message(#"{"people": [{"name": "Ada", "tags": ["a", "b"]}], "n": [], "o": {"p": 1}}"#)
    #expect(try Tool.run("print", "--depth", "1", path).text == "{\"people\": [… 1], \"n\": [], \"o\": {… 1}}\n")
    #expect(try Tool.run("print", "--depth", "0", path).text == "{… 3}\n")
    let lines = try Tool.run("print", "--width", "30", path).lines
    #expect(lines.count > 5 && lines.allSatisfy { $0.count <= 30 })
  }

  @Test("colours are used only if they are requested")
  func colors() throws {
    let path = try message(#"{"a": [1, "b", true, url"u:v"]}"#)
    #expect(try !Tool.run("print", path).text.contains("\u{1B}"))
    let colored = try Tool.run(["print", "--color=always", path], environment: ["NO_COLOR": "1"])
    #expect(colored.text.contains("\u{1B}[34m\"a\"\u{1B}[0m: [\u{1B}[36m1"))
    let wrong = try Tool.run("print", "--color", "sometimes", path)
    #expect(wrong.code == 2 && wrong.errors.contains("sometimes"))
  }

  @Test("invalid messages have another exit code than wrong files and calls")
  func failures() throws {
    let path = try message("1")
    try folder.file("bad", Data([0x91, 0x91]))
    let bad = try Tool.run("print", folder.path("bad"), path)
    #expect(bad.code == 1 && bad.lines == ["1"])
    #expect(bad.errors.contains(folder.path("bad")) && bad.errors.contains("offset 1"))
    let none = try Tool.run("print", folder.path("none"))
    #expect(none.code == 2 && none.errors == "stowtool: \(folder.path("none")): no such file\n")
    #expect(try Tool.run("print", folder.url.path).code == 2)
    for words in [
      [], ["compact"], ["prnt", path], ["print", "--colour", path], ["print", "--depth", "x", path],
      ["print", "--depth"], ["parse", path, path], ["help", "prnt"], ["print", "--record", "0", path],
    ] {
      let run = try Tool.run(words)
      #expect(run.code == 2 && run.output.isEmpty && run.errors.hasPrefix("stowtool: "), "\(words)")
    }
  }

  @Test("help exists for every verb")
  func help() throws {
    let overview = try Tool.run("--help")
    #expect(overview.code == 0)
    let verbs = overview.lines.filter { $0.hasPrefix("  ") }.compactMap {
      $0.split(separator: " ").first.map(String.init)
    }
    #expect(Set(verbs).isSuperset(of: ["print", "json", "from-json", "parse"]))
    for verb in verbs where verb != "help" && verb != "--version" {
      let (help, same) = (try Tool.run("help", verb), try Tool.run(verb, "--help"))
      #expect(help.code == 0 && help.text == same.text && help.text.contains("stowtool \(verb)"), "\(verb)")
    }
    #expect(try Tool.run("--version").text.hasPrefix("stowtool 0."))
  }

  @Test("a log's records are printed one by one")
  func logs() throws {
    let url = folder.url.appending(path: "log")
    let log = try RecordLog(at: url)
    for number in 0..<5 { try log.append(["number": number]) }
    try log.close()
    #expect(try Tool.run("print", url.path).lines == (0..<5).map { "{\"number\": \($0)}" })
    #expect(try Tool.run("json", "--record", "3", url.path).text == "{\"number\": 3}\n")
    let none = try Tool.run("print", "--record", "5", url.path)
    #expect(none.code == 1 && none.errors.contains("no record 5"))
  }

  @Test("a path selects a part")
  func paths() throws {
    let path = try message(#"{"people": [{"name": "Ada", "a b": 1}, {"name": "Alan", "a b": 2}]}"#)
    for (text, expected) in [
      ("people[1].name", "\"Alan\""), ("people[].name", #"["Ada", "Alan"]"#), (#"people[0]["a b"]"#, "1"),
    ] {
      #expect(try Tool.run("print", "--path", text, path).text == expected + "\n")
      #expect(try Tool.run("json", "--path=\(text)", path).text == expected + "\n")
    }
    let none = try Tool.run("print", "--path", "people[2].name", path)
    #expect(none.code == 1 && none.errors.contains("nothing at people[2].name"), "\(none.errors)")
    let wrong = try Tool.run("print", "--path", "people[", path)
    #expect(wrong.code == 2 && wrong.errors.contains("needs a path"))
    #expect(try Tool.run("diff", "--path", "people[].name", path, path).code == 0)
  }

  @Test("a context is read from a file")
  func contexts() throws {
    let context = try StowContext(learningFrom: [["name": "Ada"], ["name": "Ada"]])
    let encoder = StowEncoder()
    encoder.context = context
    try folder.file("context", context.data)
    try folder.file("message", encoder.encode(["name": "Ada"]))
    let run = try Tool.run("print", "--context", folder.path("context"), folder.path("message"))
    #expect(run.code == 0 && run.text == "{\"name\": \"Ada\"}\n")
    let without = try Tool.run("print", folder.path("message"))
    #expect(without.code == 1 && without.errors.contains("context"))
  }

  @Test("a closed pipe ends the command quietly")
  func brokenPipe() throws {
    let path = try message(StowValue.array((0..<100_000).map { StowValue($0) }).description)
    let run = try Tool.shell(#"{ "$0" print "$1"; echo "code $?" >&2; } | head -n 1"#, path)
    // Not all was written.
    #expect(run.text == "[\n" && run.errors == "code 2\n")
  }
}

@Suite("Messages too large to be held")
struct LargeMessageTests {
  private let folder: Folder
  private let path: String
  private let value: StowValue

  init() throws {
    folder = try Folder()
    let people = (0..<4_000).map { number -> StowValue in
      [
        "id": .integer(Int128(number)), "name": .string(String(repeating: "\(number) ", count: 60)),
        "tags": ["one", "two", .string("\(number)")],
      ]
    }
    value = [
      "kind": "people", "people": .array(people),
      "lists": [.array((0..<200).map { .double(Double($0) / 4) }), []],
    ]
    try folder.file("people", value.encoded())
    path = folder.path("people")
  }

  @Test("large messages are printed like others", arguments: [["--width", "30"], ["--lines"], ["--color", "always"]])
  func text(options: [String]) throws {
    #expect(try StowDecoder().decode(StowValue.self, from: URL(filePath: path)) == value)
    #expect(try Data(contentsOf: URL(filePath: path)).count > 1 << 20)
    let run = try Tool.run(["print"] + options + [path])
    // What is piped in is read as a whole.
    let whole = try Tool.run(["print"] + options + ["-"], input: Data(contentsOf: URL(filePath: path)))
    #expect(run.code == 0 && run.output == whole.output && run.output.count > 1 << 20)
    if options[0] != "--color" { #expect(try StowValue(notation: run.text) == value) }
    if options[0] == "--width" { #expect(run.text == value.notation(width: 30) + "\n") }
  }

  @Test("large messages become the same JSON as others, and a value that JSON lacks is named")
  func json() throws {
    for options in [[], ["--typed"]] {
      let run = try Tool.run(["json"] + options + [path])
      #expect(run.code == 0)
      #expect(
        try run.output
          == Tool.run(["json"] + options + ["-"], input: Data(contentsOf: URL(filePath: path))).output)
    }
    var value = value
    value["people"]?[3_999]?["id"] = .double(.nan)
    try folder.file("nan", value.encoded())
    let run = try Tool.run("json", folder.path("nan"))
    #expect(run.code == 1 && run.output.isEmpty && run.errors.contains("the value at people[3999].id;"))
  }

  @Test("large messages are compared part by part, with the same differences as others")
  func diff() throws {
    try folder.file("same", value.encoded())
    #expect(try Tool.run("diff", path, folder.path("same")).code == 0)
    var other = value
    other["kind"] = "persons"
    other["people"]?[2_000]?["name"] = "Ada"
    other["lists"]?[1] = [1]
    other["new"] = true
    guard case .array(let people)? = other["people"] else { return }
    other["people"] = .array(people + [["id": 1]])
    try folder.file("other", other.encoded())
    for (one, two) in [("people", "other"), ("other", "people")] {
      let run = try Tool.run("diff", folder.path(one), folder.path(two))
      // What is piped in is read as a whole.
      let whole = try Tool.run("diff", folder.path(one), "-", input: Data(contentsOf: folder.url.appending(path: two)))
      #expect(run.code == 1 && run.errors.isEmpty && run.text == whole.text)
      #expect(run.lines.contains { $0.contains(" people[2000].name: ") } && run.lines.count == 5)
    }
  }

  @Test("a file that becomes shorter while it is read is an error")
  func shortened() throws {
    // The pipe has no room for all, so the command has opened the file when the last byte is in it.
    let run = try Tool.shell(#"cp people same; { cat same; : >people; } | "$0" diff people -"#, in: folder.url)
    #expect(run.code == 2)
    #expect(run.errors == "stowtool: a file became shorter while it was read, or its disk failed\n")
  }

  #if os(Linux)
    @Test("large values stream their notation before it is complete")
    func memory() throws {
      let address = StowValue.url("u:" + String(repeating: "x", count: 100_000))
      let zeros = Array(repeating: StowValue.integer(0), count: 20_000)
      let value = StowValue.array([.array(Array(repeating: address, count: 2_000))] + zeros)
      try folder.file("message", value.encoded())
      try folder.file("other", StowValue.array([1] + zeros.map { _ in 1 }).encoded())
      for words in ["print", "print --lines", "json", "json --typed", "diff other"] {
        // The command waits, because nobody reads more than the first byte before it is known what it holds.
        let run = try Tool.shell(
          #"""
          mkfifo "$1"; "$0" \#(words) message >"$1" & exec 3<"$1"; head -c 1 <&3 >/dev/null
          grep VmHWM /proc/$!/status
          """#, words.replacing(" ", with: ""), in: folder.url)
        let held = try #require(run.text.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        #expect(held < 100_000, "\(words)")
      }
    }
  #endif

  @Test("large messages with a broken end are not printed")
  func broken() throws {
    var data = try Data(contentsOf: URL(filePath: path))
    data[data.count - 1] ^= 0xFF
    data[data.count - 2] ^= 0xFF
    try folder.file("broken", data)
    let run = try Tool.run("print", folder.path("broken"))
    #expect(run.code == 1 && run.output.isEmpty && run.errors.contains("not valid at offset"))
  }
}
