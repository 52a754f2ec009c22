import Stow

/// `inspect`: the bytes of messages, and what they mean.
enum Inspect {
  static let verb = Verb(
    name: "inspect", operands: "[options] FILE …", files: 1...Int.max,
    summary: "print the bytes of a message in hexadecimal, with their meaning",
    details: """
      Each line has the offset, the bytes, and their meaning, indented by nesting. A broken message is printed up to the
      fault; --at checks nothing else. For a folder of segments, the lines of each file follow its name.
      """,
    options: [
      Option("--at", "OFFSET", "only the bytes at this offset, and what encloses them"),
      Option("--full", nil, "print long strings and data in full"), Walks.contextOption,
    ],
    run: run)

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let context = try Walks.context(arguments)
    let layout = Inspector.Layout(isFull: arguments.has("--full"), wanted: try arguments.number("--at"))
    return await arguments.forEachFile { path, _ in
      let input = try Input(path)
      if layout.wanted != nil, let segments = input.segments {
        throw Failure("\(path): an offset is one in a file; name a segment, such as \(segments[0].path)")
      }
      let isNamed = arguments.files.count > 1 || input.segments != nil
      var areWhole = true
      try input.forEachFile { areWhole = try isWhole($0, context, layout, isNamed: isNamed) && areWhole }
      return areWhole ? .fine : .differs
    }
  }

  /// Writes the bytes of a file, and returns whether it is valid.
  private static func isWhole(
    _ input: Input, _ context: StowContext?, _ layout: Inspector.Layout, isNamed: Bool
  ) throws -> Bool {
    if let wanted = layout.wanted, wanted >= input.data.count {
      throw Failure("\(input.name): there is no offset \(wanted) among \(Words.count(input.data.count, "byte"))")
    }
    let broken = Walks.walk(input, context) { reader in
      let inspector = Inspector(reader, layout)
      if isNamed { inspector.output.line("\(input.name):") }
      return inspector
    } finish: {
      $0.output.flush()
    }
    if let broken { Output.complain("\(input.name): broken at offset \(broken.offset): \(input.fault(broken.reason))") }
    return broken == nil
  }
}

/// Writes the bytes of a message in hexadecimal, with their meaning beside them and indented by nesting, as
/// FORMAT.md writes its examples.
struct Inspector: StructureVisitor {
  private let reader: ByteReader
  private let layout: Layout
  let output = Output()

  private var places: [Place] = []
  /// The cells of the row that is being walked over.
  private var row: (bytes: Range<Int>, cells: [String])?
  /// The last line of each level.
  private var last: [Line] = []

  struct Layout {
    /// Whether long pieces are shown in full.
    var isFull = false
    /// The only offset whose piece is shown, with the pieces around it.
    var wanted: Int?
  }

  private struct Line {
    let bytes: Range<Int>
    let indent: Int
    let meaning: String
  }

  init(_ reader: ByteReader, _ layout: Layout) {
    self.reader = reader
    self.layout = layout
  }

  // MARK: the walk

  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String) {
    // Appends in place: a second reference to the cells would make each of them copy all before it.
    if let isFirst = row?.cells.isEmpty, let start = row?.bytes.lowerBound {
      row?.bytes = (isFirst ? bytes.lowerBound : start)..<bytes.upperBound
      row?.cells.append(meaning())
      return
    }
    if let wanted = layout.wanted, bytes.upperBound <= wanted, !mayEnclose(kind) { return }
    show(bytes, label + meaning())
  }

  /// Returns whether pieces of a kind can have others inside.
  private func mayEnclose(_ kind: PieceKind) -> Bool {
    switch kind {
    case .head, .symbols, .shapes, .structure, .key, .url, .framing: true
    default: false
    }
  }

  private var label: String {
    switch places.last {
    case .field(let key)?, .cell(let key)?: "\(Words.quoted(key, 20)): "
    case .column(let number)?: "column \(number): "
    default: ""
    }
  }

  var depth: Int { places.count }
  var wanted: Int? { layout.wanted }

  mutating func enter(_ place: Place) {
    if case .row = place { row = (0..<0, []) }
    places.append(place)
  }

  mutating func leave() {
    if case .row? = places.last {
      if let row, !row.cells.isEmpty { show(row.bytes, "row: \(row.cells.joined(separator: "; "))") }
      row = nil
    }
    places.removeLast()
  }

  // MARK: lines

  private mutating func show(_ bytes: Range<Int>, _ meaning: String) {
    let line = Line(bytes: bytes, indent: places.count, meaning: meaning)
    guard let wanted = layout.wanted else { return write(line) }
    last.removeAll { $0.indent >= line.indent }
    last.append(line)
    if bytes.contains(wanted) {
      for line in last { write(line) }
      output.line("\(String(repeating: " ", count: 10))path: \(Path(places))")
    }
  }

  /// The most bytes on a line, and the most lines of a piece that is not shown in full.
  private static let bytesPerLine = 20
  private static let mostLines = 4
  private static let meaningColumn = 36

  private mutating func write(_ line: Line) {
    let most = Self.bytesPerLine * Self.mostLines
    let shown = layout.isFull ? line.bytes : line.bytes.prefix(most)
    let indent = String(repeating: "  ", count: line.indent)
    var next = shown.lowerBound
    repeat {
      let part = next..<min(next + Self.bytesPerLine, shown.upperBound)
      var text = Words.padded(Words.number(next), 8, right: true) + "  " + indent
      text += part.map { Words.hex((try? reader.byte(at: $0)) ?? 0) }.joined(separator: " ")
      if next == shown.lowerBound { text = Words.padded(text, Self.meaningColumn) + "  " + line.meaning }
      output.line(text)
      next = part.upperBound
    } while next < shown.upperBound
    let left = line.bytes.upperBound - shown.upperBound
    if left > 0 { output.line("\(String(repeating: " ", count: 10))\(indent)… \(Words.count(left, "more byte"))") }
  }
}
