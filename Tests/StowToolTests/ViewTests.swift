import Foundation
import Stow
import Testing

@Suite("stowtool view, and files that are not messages")
struct ViewTests {
  private let folder: Folder

  init() throws { folder = try Folder() }

  @Test("the page is the reader's page with the file and its context inside")
  func page() throws {
    let context = try StowContext(learningFrom: [["name": "Ada"], ["name": "Grace"]])
    let encoder = StowEncoder()
    encoder.context = context
    let message = try encoder.encode(["name": "Alan"])
    try folder.file("a \"<&>\".stow", message)
    try folder.file("names.context", context.data)
    let run = try Tool.run(
      "view", "-o", folder.path("page.html"), "--context", folder.path("names.context"),
      folder.path("a \"<&>\".stow"))
    #expect(run.code == 0 && run.text == "" && run.errors == "")
    let inside = """
      <script type="text/plain" data-context>\(context.data.base64EncodedString())</script>\
      <script type="text/plain" id="inside" data-name="a &quot;&lt;&amp;&gt;&quot;.stow">\
      \(message.base64EncodedString())</script>
      """
    let expected = try Vectors.document("Readers/page/index.html") + inside
    #expect(try String(contentsOf: URL(filePath: folder.path("page.html")), encoding: .utf8) == expected)
  }

  @Test("the page is opened from a file that only its owner may read")
  func opening() throws {
    let script = """
      #!/bin/sh
      cp "$1" "$STOW_TEST_FOLDER/opened"
      ls -l "$1" > "$STOW_TEST_FOLDER/mode"
      rm "$1"
      """
    for name in ["open", "xdg-open"] {
      try folder.file(name, Data(script.utf8))
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path(name))
    }
    try folder.file("one.stow", StowEncoder().encode([1, 2, 3]))
    let path = "\(folder.path("")):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
    let run = try Tool.run(
      ["view", folder.path("one.stow")], environment: ["PATH": path, "STOW_TEST_FOLDER": folder.path("")])
    #expect(run.code == 0 && run.errors == "")
    let opened = try String(contentsOf: URL(filePath: folder.path("opened")), encoding: .utf8)
    #expect(opened.contains("id=\"inside\" data-name=\"one.stow\""))
    #expect(try String(contentsOf: URL(filePath: folder.path("mode")), encoding: .utf8).hasPrefix("-rw-------"))
  }

  @Test("view prints where the page is if no program opens pages")
  func noBrowser() throws {
    try folder.file("one.stow", StowEncoder().encode([1, 2, 3]))
    let run = try Tool.run(
      ["view", folder.path("one.stow")], environment: ["PATH": "/nowhere", "TMPDIR": folder.path("")])
    #expect(run.code == 2 && run.errors.contains("did not open the page, which is \(folder.path("stowtool-"))"))
  }

  @Test(
    "a file that looks like another format is called by that format's name",
    arguments: [
      (#" {"name": "Ada"}"#, "JSON"), ("[1, 2]", "JSON"), ("[]", "JSON"), ("{\n}", "JSON"),
      ("C9 82 69 64", "bytes in hexadecimal"), ("yYJpZJXJgmlklQ==", "Base64"), ("yYJpZJXJ", "Base64"),
      ("bplist00 ", "a binary property list"),
      ("<?xml version=\"1.0\"?>", "XML"), ("name,age\nAda,36\n", "text"), ("Good, morning", "text"),
    ])
  func others(text: String, name: String) throws {
    for verb in ["print", "verify", "inspect", "sizes"] {
      let run = try Tool.run(verb, "-", input: Data(text.utf8))
      #expect(run.code == 1 && (run.errors + run.text).contains("; these bytes look like \(name)"), "\(verb)")
    }
  }

  @Test("packed files are named, and a message that is cut short is not mistaken for one")
  func bytes() throws {
    let gzip = try Tool.run("print", "-", input: Data([0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0]))
    #expect(gzip.errors.contains("; these bytes look like a gzip file"))
    let message = try StowEncoder().encode(["name": "Ada", "city": "London"])
    let cut = try Tool.run("print", "-", input: message.dropLast(3))
    #expect(cut.code == 1 && !cut.errors.contains("look like"))
  }
}
