import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `sizes`: where the bytes of a message go.
enum Sizes {
  static let verb = Verb(
    name: "sizes", operands: "[options] FILE", files: 1...1,
    summary: "says where the bytes of a message go",
    details: """
      Two tables: the bytes by what they are good for, and by where they stand. All elements of a list are one: people[].name
      is the names of all people. A path has the bytes of all that is below it. Strings and keys that recur stand in the
      prelude, and where they are used, only their number. Of a log that is a folder of segments, all of them are added up.
      """,
    options: [
      Option("--svg", "OUT", "draw the same as rectangles in rectangles, for a browser"),
      Option("--all", nil, "paths of less than 0.1 % of the bytes, too"), Walks.contextOption,
    ],
    run: run)

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let input = try Input(arguments.files[0])
    let context = try Walks.context(arguments)
    var (collector, whole) = (SizeCollector(), 0)
    try input.forEachFile { file in
      let before = collector
      let broken = Walks.walk(file, context) { _ in
        before
      } finish: {
        collector = $0
      }
      if let broken {
        throw Failure(
          "\(file.name): broken at offset \(broken.offset): \(file.fault(broken.reason))", .differs)
      }
      whole += file.data.count
    }
    var output = Output()
    output.line("\(input.name): \(Words.count(whole, "byte"))\n")
    let kinds = collector.kinds.sorted { ($0.value, $1.key.rawValue) > ($1.value, $0.key.rawValue) }
    let byKind = kinds.map { SizeTable.Line(size: $0.value, count: nil, name: $0.key.rawValue) }
    for line in SizeTable.text(byKind, of: whole) { output.line(line) }
    output.line("")
    let least = arguments.has("--all") ? 0 : whole / 1000
    for line in SizeTable.text(SizeTable.lines(of: collector.tree, least: least), of: whole) {
      output.line(line)
    }
    output.flush()
    if let path = arguments.value("--svg") { try draw(collector, whole, input.name, to: path) }
    return .fine
  }

  private static func draw(_ collector: SizeCollector, _ whole: Int, _ name: String, to path: String) throws {
    let svg = SizeDrawing.svg(
      of: collector.tree, collector.kinds, whole: whole, title: "\(name): \(Words.count(whole, "byte"))")
    do {
      try Data(svg.utf8).write(to: URL(named: path))
    } catch {
      throw Failure("\(path): cannot be written")
    }
  }
}
