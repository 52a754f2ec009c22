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
