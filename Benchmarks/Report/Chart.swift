import Foundation

/// The report as a picture: for each payload, how many times as fast as JSON Stow encodes and decodes, and below that
/// how large its output is compared with JSON's. It is narrow enough for a telephone, and has colours for light and
/// dark pages.
struct Chart {
  /// One payload or mean: a group of bars.
  private struct Group {
    let name: String
    let encode: Double?
    let decode: Double?
    let share: Double?
  }

  private let groups: [Group]
  private let scale: Scale
  private let footer: [String]

  /// The payloads that a reader understands by their names.
  static let plainPayloads = [
    "people", "points", "small", "tree", "events", "tweets", "geometry", "strings",
  ]

  /// Draws some payloads of a report, without means.
  init(_ report: Report, only names: [String]) {
    var part = report
    part.payloads = report.payloads.filter { names.contains($0.name) }
    part.means = []
    self.init(part)
  }

  /// Draws the payloads of a report, and below them their means.
  init(_ report: Report) {
    groups =
      report.payloads.map {
        Group(name: $0.name, encode: $0.encode?.stowRatio, decode: $0.decode?.stowRatio, share: $0.sizeShare)
      }
      + report.means.map {
        Group(name: "mean (\($0.name))", encode: $0.encodeRatio, decode: $0.decodeRatio, share: $0.sizeShare)
      }
    scale = Scale(groups.flatMap { [$0.encode, $0.decode] }.compactMap { $0 }.filter(\.isFinite))
    footer = Self.lines(of: report.machine.description)
  }

  /// The positions of ratios: in proportion, unless some are too large for that.
  private struct Scale {
    let isLinear: Bool
    private let end: Double
    private let start: Double

    init(_ ratios: [Double]) {
      let most = ratios.max() ?? 10
      isLinear = most <= 50
      end = isLinear ? ceil(max(10, most) / 10) * 10 : pow(10, ceil(log10(most)))
      start = isLinear ? 0 : min(1, pow(2, floor(log2(ratios.min() ?? 1))))
    }

    /// Where bars begin.
    var origin: Double { isLinear ? 0 : 1 }

    /// The place of a ratio, from 0 to 1.
    func place(of ratio: Double) -> Double { isLinear ? ratio / end : log(ratio / start) / log(end / start) }

    var marks: [Double] {
      isLinear
        ? Array(stride(from: 0, through: end, by: 10))
        : Array(sequence(first: 1) { $0 * 10 }.prefix { $0 <= end })
    }
  }

  private enum Layout {
    static let barWidth = 268.0
    static let barHeight = 16.0
    static let speedTop = 118.0
    static let speedRow = 42.0
    static let shareRow = 26.0
  }

  /// The space for the names.
  private var left: Double { 34 + 8.75 * Double(groups.map(\.name.count).max() ?? 0) }
  private var width: Double { left + Layout.barWidth + 68 }
  private var speedBottom: Double { Layout.speedTop + Double(groups.count) * Layout.speedRow }
  private var shareTop: Double { speedBottom + 66 }
  private var shareBottom: Double { shareTop + Double(groups.count) * Layout.shareRow }
  private var height: Double { shareBottom + 24 + Double(footer.count) * 17 }

  private static let style = """
    <style>
    .back { fill: #ffffff } text { fill: #1f2937 } .faint { fill: #57606a } line { stroke: #d0d7de }
    .encode { fill: #2563eb } .decode { fill: #f59e0b } .share { fill: #0f9d76 }
    .figure { stroke: #ffffff; stroke-width: 3; paint-order: stroke }
    @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } text { fill: #e6edf3 } .faint { fill: #9198a1 } line { stroke: #3d444d }
    .encode { fill: #4c8dff } .figure { stroke: #0d1117 }
    }
    </style>
    """

  /// A document of its own.
  var svg: String {
    let parts =
      [
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" \
        width="\(number(width))" height="\(number(height))" \
        font-family="-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="16">
        """,
        "<title>Stow compared with Foundation's JSON</title>",
        Self.style,
        rectangle(0, 0, width, height, "back"),
        label("Stow compared with JSON", 16, 34, "font-size=\"22\" font-weight=\"700\""),
        label("Times as fast, \(scale.isLinear ? "linear" : "logarithmic") scale", 16, 64, "font-weight=\"600\""),
        rectangle(16, 77, 14, 14, "encode"), label("encoding", 36, 90),
        rectangle(124, 77, 14, 14, "decode"), label("decoding", 144, 90),
        label("Bytes, in percent (less is better)", 16, shareTop - 30, "font-weight=\"600\""),
      ] + speedMarks + shareMarks + groups.enumerated().flatMap { bars(of: $1, row: $0) }
      + footer.enumerated().map { line, text in
        label(text, 16, shareBottom + 26 + Double(line) * 17, "font-size=\"13\" class=\"faint\"")
      } + ["</svg>"]
    return parts.joined(separator: "\n") + "\n"
  }

  private var speedMarks: [String] {
    scale.marks.flatMap { ratio in
      mark(
        speedX(ratio), Layout.speedTop, speedBottom,
        Figures.ratio(ratio).replacing(".00", with: "").replacing(".0", with: "") + "×")
    }
  }

  private var shareMarks: [String] {
    stride(from: 0.0, through: 100, by: 50).flatMap { share in
      mark(shareX(share), shareTop, shareBottom, "\(Int(share)) %")
    }
  }

  /// A vertical line with what it stands for.
  private func mark(_ x: Double, _ top: Double, _ bottom: Double, _ text: String) -> [String] {
    [
      "<line x1=\"\(number(x))\" y1=\"\(number(top))\" x2=\"\(number(x))\" y2=\"\(number(bottom))\"/>",
      label(text, x, top - 6, "font-size=\"13\" class=\"faint\" text-anchor=\"middle\""),
    ]
  }

  /// The names and bars of one group, in both panels.
  private func bars(of group: Group, row: Int) -> [String] {
    let middle = Layout.speedTop + (Double(row) + 0.5) * Layout.speedRow
    var parts = [name(group.name, middle)]
    if let ratio = group.encode {
      parts += speedBar(ratio, y: middle - Layout.barHeight / (group.decode == nil ? 2 : 1), "encode")
    }
    if let ratio = group.decode {
      parts += speedBar(ratio, y: middle - (group.encode == nil ? Layout.barHeight / 2 : 0), "decode")
    }
    if let share = group.share {
      let middle = shareTop + (Double(row) + 0.5) * Layout.shareRow
      let end = shareX(min(share, 110))
      parts += [
        name(group.name, middle),
        rectangle(left, middle - Layout.barHeight / 2, end - left, Layout.barHeight, "share"),
        figure(Figures.percent(share), end + 6, middle + 5),
      ]
    }
    return parts
  }

  private func name(_ text: String, _ middle: Double) -> String {
    label(text, left - 10, middle + 5, "text-anchor=\"end\"")
  }

  /// A bar that ends at the ratio, with the figure at its end.
  private func speedBar(_ ratio: Double, y: Double, _ style: String) -> [String] {
    guard ratio.isFinite, ratio > 0 else { return [] }
    let (start, end) = (speedX(scale.origin), speedX(ratio))
    return [
      rectangle(min(start, end), y, max(1, abs(end - start)), Layout.barHeight, style),
      figure(Figures.ratio(ratio) + "×", max(start, end) + 6, y + Layout.barHeight - 3),
    ]
  }

  /// The figure at the end of a bar, which interrupts the vertical lines behind it.
  private func figure(_ text: String, _ x: Double, _ y: Double) -> String {
    label(text, x, y, "font-size=\"14\" class=\"figure\"")
  }

  private func speedX(_ ratio: Double) -> Double { left + scale.place(of: ratio) * Layout.barWidth }

  private func shareX(_ share: Double) -> Double { left + share / 100 * Layout.barWidth }

  private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String)
    -> String
  {
    """
    <rect x="\(number(x))" y="\(number(y))" width="\(number(width))" height="\(number(height))" \
    class="\(style)"/>
    """
  }

  private func label(_ text: String, _ x: Double, _ y: Double, _ attributes: String = "") -> String {
    let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    return
      "<text x=\"\(number(x))\" y=\"\(number(y))\"\(attributes.isEmpty ? "" : " ")\(attributes)>\(escaped)</text>"
  }

  /// The lines of a text that is wider than the picture.
  private static func lines(of text: String) -> [String] {
    text.split(separator: " ").reduce(into: []) { lines, word in
      if let last = lines.last, last.count + word.count < 60 {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(String(word))
      }
    }
  }

  /// A coordinate, no finer than anyone sees.
  private func number(_ value: Double) -> String { Figures.fixed(value, 1) }
}
