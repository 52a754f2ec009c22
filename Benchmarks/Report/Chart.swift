import Foundation

/// The report as a picture: for each payload, how many times as fast as JSON Stow encodes and decodes, on a
/// logarithmic scale, and how large its output is beside JSON's.
struct Chart {
  /// One payload or mean: a group of bars.
  private struct Group {
    let name: String
    let encode: Double?
    let decode: Double?
    let share: Double?
    var isMean = false
  }

  private let groups: [Group]
  private let footer: String
  private let fastest: Double
  private let slowest: Double

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
        Group(
          name: "mean (\($0.name))", encode: $0.encodeRatio, decode: $0.decodeRatio, share: $0.sizeShare,
          isMean: true)
      }
    footer = report.machine.description
    let ratios = groups.flatMap { [$0.encode, $0.decode] }.compactMap { $0 }.filter(\.isFinite)
    fastest = pow(10, ceil(log10(max(10, ratios.max() ?? 10))))
    slowest = min(1, pow(2, floor(log2(ratios.min() ?? 1))))
  }

  private enum Layout {
    static let width = 1200.0
    static let speedLeft = 210.0
    static let speedWidth = 560.0
    static let sizeLeft = 860.0
    static let sizeWidth = 240.0
    static let top = 150.0
    static let rowHeight = 40.0
    static let barHeight = 13.0
  }

  private enum Colour {
    static let encode = "#2563eb"
    static let decode = "#f59e0b"
    static let size = "#0f9d76"
    static let text = "#1f2937"
    static let faint = "#6b7280"
    static let line = "#e5e7eb"
    static let mean = "#f3f4f6"
  }

  private var bottom: Double { Layout.top + Double(groups.count) * Layout.rowHeight }
  private var height: Double { bottom + 80 }

  /// A document of its own.
  var svg: String {
    let parts =
      [
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(Layout.width)) \(number(height))" \
        width="\(number(Layout.width))" height="\(number(height))" \
        font-family="Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif" font-size="15" \
        fill="\(Colour.text)">
        """,
        "<title>Stow beside Foundation's JSON</title>",
        rectangle(0, 0, Layout.width, height, "#ffffff"),
        label("Stow beside Foundation's JSON", 40, 52, "font-size=\"28\" font-weight=\"700\""),
      ] + legend + meanBands + axes + groups.enumerated().flatMap { bars(of: $1, row: $0) } + [
        label(
          "Longer bars in the left panel are faster. \(footer).", 40, height - 24,
          "font-size=\"12\" fill=\"\(Colour.faint)\""),
        "</svg>",
      ]
    return parts.joined(separator: "\n") + "\n"
  }

  /// What the colours mean, above the panel they are used in.
  private var legend: [String] {
    let y = 100.0
    let entries = [
      (Layout.speedLeft, Colour.encode, "encoding, times JSON's speed"),
      (Layout.speedLeft + 280, Colour.decode, "decoding, times JSON's speed"),
      (Layout.sizeLeft, Colour.size, "size, % of JSON's (less is better)"),
    ]
    return entries.flatMap { x, colour, text in
      [rectangle(x, y - 12, 14, 14, colour), label(text, x + 22, y)]
    }
  }

  /// A shade behind the means.
  private var meanBands: [String] {
    groups.enumerated().filter(\.element.isMean).map { row, _ in
      rectangle(
        24, Layout.top + Double(row) * Layout.rowHeight, Layout.width - 48, Layout.rowHeight, Colour.mean)
    }
  }

  /// Vertical lines with what they stand for, and below them the names of the two scales.
  private var axes: [String] {
    let names = [
      (Layout.speedLeft + Layout.speedWidth / 2, "times JSON's speed, on a logarithmic scale"),
      (Layout.sizeLeft + Layout.sizeWidth / 2, "percent of JSON's size"),
    ].map { x, text in
      label(text, x, bottom + 22, "font-size=\"13\" fill=\"\(Colour.faint)\" text-anchor=\"middle\"")
    }
    var marks: [(x: Double, text: String, isOrigin: Bool)] = []
    var ratio = 1.0
    while ratio <= fastest {
      marks.append(
        (
          speedX(ratio), Figures.ratio(ratio).replacing(".00", with: "").replacing(".0", with: "") + "×",
          ratio == 1
        ))
      ratio *= 10
    }
    for share in stride(from: 0.0, through: 100, by: 25) {
      marks.append((sizeX(share), "\(Int(share)) %", share == 0))
    }
    return names
      + marks.flatMap { x, text, isOrigin in
        [
          """
          <line x1="\(number(x))" y1="\(number(Layout.top - 6))" x2="\(number(x))" y2="\(number(bottom))" \
          stroke="\(isOrigin ? Colour.faint : Colour.line)"/>
          """,
          label(text, x, Layout.top - 14, "font-size=\"12\" fill=\"\(Colour.faint)\" text-anchor=\"middle\""),
        ]
      }
  }

  /// The name and bars of one group.
  private func bars(of group: Group, row: Int) -> [String] {
    let middle = Layout.top + (Double(row) + 0.5) * Layout.rowHeight
    var parts = [
      label(
        group.name, Layout.speedLeft - 14, middle + 5,
        "text-anchor=\"end\"" + (group.isMean ? " font-weight=\"700\"" : ""))
    ]
    if let ratio = group.encode {
      parts += speedBar(
        ratio, y: group.decode == nil ? middle - Layout.barHeight / 2 : middle - 14, Colour.encode)
    }
    if let ratio = group.decode {
      parts += speedBar(
        ratio, y: group.encode == nil ? middle - Layout.barHeight / 2 : middle + 1, Colour.decode)
    }
    if let share = group.share {
      let width = sizeX(min(share, 110)) - Layout.sizeLeft
      parts.append(rectangle(Layout.sizeLeft, middle - 8, width, 16, Colour.size))
      parts.append(figure(Figures.percent(share), Layout.sizeLeft + width + 6, middle + 5, size: 13))
    }
    return parts
  }

  /// A bar from 1 to the ratio, with the figure at its end.
  private func speedBar(_ ratio: Double, y: Double, _ colour: String) -> [String] {
    guard ratio.isFinite, ratio > 0 else { return [] }
    let start = speedX(1)
    let end = speedX(ratio)
    return [
      rectangle(min(start, end), y, max(1, abs(end - start)), Layout.barHeight, colour),
      figure(Figures.ratio(ratio) + "×", max(start, end) + 6, y + Layout.barHeight - 2, size: 12),
    ]
  }

  /// The figure at the end of a bar, which interrupts the vertical lines that it stands on.
  private func figure(_ text: String, _ x: Double, _ y: Double, size: Int) -> String {
    label(text, x, y, "font-size=\"\(size)\" stroke=\"#ffffff\" stroke-width=\"5\" paint-order=\"stroke\"")
  }

  /// Where a ratio stands.
  private func speedX(_ ratio: Double) -> Double {
    Layout.speedLeft + log(ratio / slowest) / log(fastest / slowest) * Layout.speedWidth
  }

  /// Where a share stands.
  private func sizeX(_ share: Double) -> Double { Layout.sizeLeft + share / 100 * Layout.sizeWidth }

  private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String)
    -> String
  {
    """
    <rect x="\(number(x))" y="\(number(y))" width="\(number(width))" height="\(number(height))" \
    fill="\(colour)"/>
    """
  }

  private func label(_ text: String, _ x: Double, _ y: Double, _ attributes: String = "") -> String {
    let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    return
      "<text x=\"\(number(x))\" y=\"\(number(y))\"\(attributes.isEmpty ? "" : " ")\(attributes)>\(escaped)</text>"
  }

  /// A coordinate, no finer than anyone sees.
  private func number(_ value: Double) -> String { Figures.fixed(value, 1) }
}
