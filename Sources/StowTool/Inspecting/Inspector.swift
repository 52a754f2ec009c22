import Stow

/// Writes the bytes of a message in hexadecimal, with their meaning beside them and indented by nesting, as
/// FORMAT.md writes its examples.
struct Inspector: StructureVisitor {
  private let reader: ByteReader
  /// Where the reader begins in the file.
  private let start: Int
  private let layout: Layout
  var output = Output()

  private var places: [Place] = []
  /// The cells of the row that is being walked over.
  private var row: (bytes: Range<Int>, cells: [String])?
  /// The last line of each level.
  private var last: [Line] = []
  /// Whether the wanted piece was found.
  private(set) var hasFound = false

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

  init(_ reader: ByteReader, from start: Int = 0, _ layout: Layout) {
    self.reader = reader
    self.start = start
    self.layout = layout
  }

  // MARK: the walk

  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String) {
    if let row {
      let start = row.cells.isEmpty ? bytes.lowerBound : row.bytes.lowerBound
      self.row = (start..<bytes.upperBound, row.cells + [meaning()])
      return
    }
    if let wanted = layout.wanted, bytes.upperBound + start <= wanted, !mayEnclose(kind) { return }
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
    if (bytes.lowerBound + start..<bytes.upperBound + start).contains(wanted) {
      for line in last { write(line) }
      output.line("\(String(repeating: " ", count: 10))path: \(Path(places))")
      hasFound = true
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
      var text = Words.padded(Words.number(next + start), 8, right: true) + "  " + indent
      text += part.map { Words.hex((try? reader.byte(at: $0)) ?? 0) }.joined(separator: " ")
      if next == shown.lowerBound {
        text = Words.padded(text, Self.meaningColumn) + "  " + line.meaning
      }
      output.line(text)
      next = part.upperBound
    } while next < shown.upperBound
    let left = line.bytes.upperBound - shown.upperBound
    if left > 0 {
      output.line("\(String(repeating: " ", count: 10))\(indent)… \(Words.count(left, "more byte"))")
    }
  }
}
