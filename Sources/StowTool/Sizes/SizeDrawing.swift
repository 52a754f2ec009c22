/// A drawing of where bytes go: rectangles in rectangles, as a self-contained SVG.
struct SizeDrawing {
  private static let width = 1200.0
  private static let height = 760.0
  private static let margin = 10.0
  private static let titleHeight = 34.0
  private static let legendHeight = 46.0
  /// The most width that a letter takes, in a font of one pixel.
  private static let letterWidth = 0.62

  private let whole: Int
  private var body = ""

  private static let colors: [PieceKind: String] = [
    .symbols: "#b07aa1", .shapes: "#9c755f", .structure: "#bab0ac", .key: "#f28e2b", .string: "#59a14f",
    .symbol: "#8cd17d", .integer: "#4e79a7", .float: "#76b7b2", .bool: "#a0cbe8", .null: "#d7d7d7",
    .date: "#e15759",
    .uuid: "#ff9da7", .url: "#86bcb6", .data: "#edc948", .decimal: "#499894", .head: "#79706e",
    .framing: "#79706e",
  ]

  /// - Parameters:
  ///   - whole: The size of the file.
  ///   - kinds: All of its bytes, by their purpose.
  static func svg(of tree: SizeTree, _ kinds: [PieceKind: Int], whole: Int, title: String) -> String {
    var drawing = SizeDrawing(whole: whole)
    let top = margin + titleHeight
    drawing.text(title, margin, margin + 18, size: 16, room: width - 2 * margin)
    let area = Treemap.Rectangle(
      x: margin, y: top, width: width - 2 * margin, height: height - top - legendHeight - margin)
    let outside = [PieceKind.head, .symbols, .shapes, .framing].compactMap { kind in
      kinds[kind].map { Part(name: kind.rawValue, size: $0, kind: kind, tree: nil) }
    }
    drawing.draw([Part(name: "", size: tree.total, kind: tree.mainKind, tree: tree)] + outside, path: "", in: area)
    drawing.legend(kinds)
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(height))" font-family="Helvetica, Arial, \
      sans-serif">
      <rect width="100%" height="100%" fill="#ffffff"/>
      \(drawing.body)</svg>

      """
  }

  private init(whole: Int) { self.whole = whole }

  /// A part with a rectangle: a tree, the bytes of one that are in no subtree, or a part of the prelude.
  private struct Part {
    let name: String
    let size: Int
    let kind: PieceKind
    let tree: SizeTree?
  }

  // MARK: rectangles

  private mutating func draw(_ parts: [Part], path: String, in area: Treemap.Rectangle) {
    let parts = parts.filter { $0.size > 0 }.sorted { $0.size > $1.size }
    for (part, place) in zip(parts, Treemap.rectangles(of: parts.map(\.size), in: area)) {
      guard place.width >= 1, place.height >= 1 else { continue }
      let path = part.tree?.path(inside: path) ?? path
      guard let tree = part.tree, !tree.below.isEmpty, let inside = Self.inside(place) else {
        leaf(part, path, place)
        continue
      }
      frame(part, path, place)
      let own = Part(name: part.kind.rawValue, size: tree.own, kind: tree.mainKind, tree: nil)
      draw(
        [own] + tree.below.map { Part(name: $0.step, size: $0.total, kind: $0.mainKind, tree: $0) },
        path: path,
        in: inside)
    }
  }

  /// Returns the room in a rectangle below its title, or nil.
  private static func inside(_ area: Treemap.Rectangle) -> Treemap.Rectangle? {
    guard area.width > 24, area.height > 30 else { return nil }
    return Treemap.Rectangle(x: area.x + 3, y: area.y + 17, width: area.width - 6, height: area.height - 20)
  }

  private mutating func leaf(_ part: Part, _ path: String, _ area: Treemap.Rectangle) {
    begin(part, path)
    rectangle(area, fill: Self.colors[part.kind] ?? "#cccccc", stroke: "#ffffff")
    if area.height > 14 { text(Self.name(of: part), area.x + 4, area.y + 12, size: 11, room: area.width - 8) }
    if area.height > 30 { text(Words.number(part.size), area.x + 4, area.y + 26, size: 10, room: area.width - 8) }
    body += "</g>\n"
  }

  /// Draws a rectangle around those of the parts below.
  private mutating func frame(_ part: Part, _ path: String, _ area: Treemap.Rectangle) {
    begin(part, path)
    rectangle(area, fill: "#f4f4f4", stroke: "#999999")
    let room = area.width - 8
    let name = path.isEmpty ? "value" : Self.fits(path, size: 11, room) ? path : Self.name(of: part)
    text("\(name)  \(Words.number(part.size))", area.x + 4, area.y + 12, size: 11, room: room)
    body += "</g>\n"
  }

  /// Begins a group, with the text that a pointer shows.
  private mutating func begin(_ part: Part, _ path: String) {
    let share = Words.thousandths(part.size, of: whole)
    let place = part.tree == nil && !path.isEmpty ? "\(path): \(part.name)" : path.isEmpty ? part.name : path
    let name = place.isEmpty ? "value" : place
    let count = part.tree.map { $0.count > 1 ? ", \(Words.number($0.count)) values" : "" } ?? ""
    body +=
      "<g><title>\(Self.escaped(name)): \(Words.count(part.size, "byte")), \(share / 10).\(share % 10) %\(count)"
    body += "</title>\n"
  }

  private mutating func rectangle(_ area: Treemap.Rectangle, fill: String, stroke: String) {
    body += """
      <rect x="\(Self.short(area.x))" y="\(Self.short(area.y))" width="\(Self.short(area.width))" \
      height="\(Self.short(area.height))" fill="\(fill)" stroke="\(stroke)"/>

      """
  }

  // MARK: texts

  private static func name(of part: Part) -> String {
    part.name.hasPrefix(".") ? String(part.name.dropFirst()) : part.name
  }

  /// Returns whether a path fits, with its size after it.
  private static func fits(_ path: String, size: Double, _ room: Double) -> Bool {
    Double(path.count + 10) * size * letterWidth <= room
  }

  /// Writes as much of a text as fits, or nothing.
  private mutating func text(_ text: String, _ x: Double, _ y: Double, size: Double, room: Double) {
    let most = Int(room / (size * Self.letterWidth))
    let shown = text.count <= most ? text : most < 3 ? "" : text.prefix(most - 1) + "…"
    if shown.isEmpty { return }
    body += "<text x=\"\(Self.short(x))\" y=\"\(Self.short(y))\" font-size=\"\(Int(size))\">"
    body += "\(Self.escaped(shown))</text>\n"
  }

  private mutating func legend(_ kinds: [PieceKind: Int]) {
    var x = Self.margin
    var y = Self.height - Self.legendHeight + 4
    for (kind, size) in kinds.sorted(by: { ($0.value, $1.key.rawValue) > ($1.value, $0.key.rawValue) }) {
      let name = "\(kind.rawValue) \(Words.number(size))"
      let room = Double(name.count) * 11 * Self.letterWidth + 26
      if x + room > Self.width - Self.margin { (x, y) = (Self.margin, y + 18) }
      rectangle(
        Treemap.Rectangle(x: x, y: y, width: 11, height: 11), fill: Self.colors[kind] ?? "#cccccc",
        stroke: "#ffffff")
      text(name, x + 16, y + 10, size: 11, room: room)
      x += room
    }
  }

  private static func short(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Returns a text escaped for XML and HTML, without characters that XML cannot hold.
  static func escaped(_ text: some StringProtocol) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\0"..<" ", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// Rectangles that fill another, each with an area in proportion to a size, and as nearly square as possible.
enum Treemap {
  struct Rectangle {
    var x: Double
    var y: Double
    var width: Double
    var height: Double
  }

  /// - Parameter sizes: Sizes above zero, the largest first.
  static func rectangles(of sizes: [Int], in area: Rectangle) -> [Rectangle] {
    let total = sizes.reduce(0) { $0 + Double($1) }
    guard total > 0, area.width > 0, area.height > 0 else { return [] }
    let scale = area.width * area.height / total
    var rest = area
    var result: [Rectangle] = []
    var row: [Double] = []
    for size in sizes {
      let size = Double(size) * scale
      let side = min(rest.width, rest.height)
      if !row.isEmpty, worstRatio(row + [size], side) > worstRatio(row, side) {
        result += lay(row, in: &rest)
        row = []
      }
      row.append(size)
    }
    return result + lay(row, in: &rest)
  }

  /// Returns the ratio of the longer side to the shorter, for the least square rectangle of a row.
  private static func worstRatio(_ row: [Double], _ side: Double) -> Double {
    let sum = row.reduce(0, +)
    guard let first = row.first, let last = row.last, last > 0, side > 0 else { return .infinity }
    return max(side * side * first / (sum * sum), sum * sum / (side * side * last))
  }

  /// Lays a row along the shorter side, and removes its room from the rest.
  private static func lay(_ row: [Double], in rest: inout Rectangle) -> [Rectangle] {
    let sum = row.reduce(0, +)
    let side = min(rest.width, rest.height)
    guard side > 0, sum > 0 else { return [] }
    let thickness = sum / side
    let isUpright = rest.width >= rest.height
    var start = isUpright ? rest.y : rest.x
    let result = row.map { size in
      let length = size / thickness
      defer { start += length }
      return isUpright
        ? Rectangle(x: rest.x, y: start, width: thickness, height: length)
        : Rectangle(x: start, y: rest.y, width: length, height: thickness)
    }
    if isUpright {
      rest.x += thickness
      rest.width = max(0, rest.width - thickness)
    } else {
      rest.y += thickness
      rest.height = max(0, rest.height - thickness)
    }
    return result
  }
}
