import Foundation
import Stow
import StowNotation
import StowRecords
import Testing

@Suite("stowtool diff")
struct DiffTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  private func diff(_ left: String, _ right: String) throws -> Tool.Run {
    try folder.file("a", StowValue(notation: left).encoded())
    try folder.file("b", StowValue(notation: right).encoded())
    return try Tool.run("diff", folder.path("a"), folder.path("b"))
  }

  @Test("diff lists differences by path")
  func differences() throws {
    let run = try diff(
      #"{"people": [{"name": "Ada", "age": 36}, {"name": "Alan"}], "n": 1, "gone": [1], "e": [1, 2, 3], "f": {"a": 1, "b": 2}}"#,
      #"{"people": [{"name": "Eva", "age": 36.0}, {"name": "Alan"}], "n": 1, "e": [1, 5, 6, 2, 3], "f": {"b": 2, "a": 1}, "new": {}}"#
    )
    #expect(run.code == 1)
    #expect(
      run.lines == [
        #"~ people[0].name: "Ada" → "Eva""#, "~ people[0].age: 36 → 36.0", "- gone: [1]", "+ e[1]: 5",
        "+ e[2]: 6",
        "~ f: the keys are in another order, or spelled otherwise", "+ new: {}",
      ], "\(run.text)")
    #expect(try diff("[1, 2, 3]", "[3]").lines == ["- [0]: 1", "- [1]: 2"])
    #expect(try diff("[]", "1").lines == ["~ the top: [] → 1"])
    #expect(try diff("\"é\"", "\"e\u{301}\"").code == 1)
    #expect(try diff("nan", "nan(0x7ff8000000000001)").code == 1)
  }

  @Test("diff prints nothing for equal values, whatever their bytes are")
  func same() throws {
    try folder.file("a", Data([0x05, 0x07, 0x00, 0x00]))
    try folder.file("b", StowValue(7).encoded())
    let run = try Tool.run("diff", folder.path("a"), folder.path("b"))
    #expect(run.code == 0 && run.output.isEmpty && run.errors == "")
    #expect(try Tool.run("diff", folder.path("a"), folder.path("none")).code == 2)
  }

  @Test("diff compares logs record by record")
  func logs() throws {
    for (name, values) in [("a", [1, 2, 3]), ("b", [1, 5])] {
      let log = try RecordLog(at: folder.url.appending(path: name))
      try log.append(contentsOf: values)
      try log.close()
    }
    let run = try Tool.run("diff", folder.path("a"), folder.path("b"))
    #expect(run.code == 1 && run.lines == ["~ record 1: 2 → 5", "- record 2: 3"], "\(run.text)")
  }

  @Test("diff compares logs without records with each other and with a message")
  func noRecords() throws {
    try RecordLog(at: folder.url.appending(path: "log")).close()
    try folder.file("message", StowValue(7).encoded())
    let (log, message) = (folder.path("log"), folder.path("message"))
    let same = try Tool.run("diff", log, log)
    #expect(same.code == 0 && same.output.isEmpty && same.errors == "")
    #expect(try Tool.run("diff", log, message).lines == ["+ record 0: 7"])
    #expect(try Tool.run("diff", message, log).lines == ["- record 0: 7"])
  }
}
