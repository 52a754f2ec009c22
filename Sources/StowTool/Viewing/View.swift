import CViewerPage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `view`: a message in a browser.
enum View {
  static let verb = Verb(
    name: "view", operands: "[options] FILE", files: 1...1,
    summary: "show a message, log or stream in the browser",
    details: """
      The page contains the file: its values as a tree, its bytes, and a drawing of their sizes. It works offline and sends
      nothing. It is a temporary file that only you can read, or the file that -o names. Of a folder of segments, view one.
      """,
    options: [
      Option("--output", "FILE", "write the page to this file instead of opening it", short: "-o"),
      Walks.contextOption,
    ],
    run: run)

  /// The largest file that is put into a page: texts in browsers cannot be longer than twice that.
  private static let most = 256 << 20

  /// The most segments of a folder that are named.
  private static let mostNames = 6

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let input = try Input(arguments.files[0])
    if let segments = input.segments {
      let names = segments.prefix(mostNames).map(\.path) + (segments.count > mostNames ? ["…"] : [])
      throw Failure("\(input.name): a folder of segments; view one at a time: \(names.joined(separator: ", "))")
    }
    guard input.data.count <= most else {
      throw Failure("\(input.name): too large for a browser; see stowtool print --path, or inspect")
    }
    let page = self.page(of: input, context: try Walks.context(arguments)?.data)
    if let path = arguments.value("--output") {
      try Output.write(page, to: path)
    } else {
      try open(page)
    }
    return .fine
  }

  /// Returns the page with a file at its end, and the context that its messages rely on.
  private static func page(of input: Input, context: Data?) -> Data {
    var size = 0
    var page = stow_viewer_page(&size).map { Data(bytes: $0, count: size) } ?? Data()
    func add(_ attributes: String, _ data: Data) {
      page += Data("<script type=\"text/plain\" \(attributes)>".utf8)
      page += data.base64EncodedData()
      page += Data("</script>".utf8)
    }
    if let context { add("data-context", context) }
    let name = input.name.split(separator: "/").last.map(String.init) ?? input.name
    add("id=\"inside\" data-name=\"\(SizeDrawing.escaped(name))\"", input.data)
    return page
  }

  /// Writes a page to a temporary file and has the system's browser show it.
  private static func open(_ page: Data) throws {
    let path = try Output.writeTemporary(page, ending: ".html").path(percentEncoded: false)
    guard System.run(System.opener, path) else {
      throw Failure("\(System.opener) did not open the page, which is \(path)")
    }
  }
}
