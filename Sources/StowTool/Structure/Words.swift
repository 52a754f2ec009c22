import Stow

/// Numbers and names as people read them.
enum Words {
  /// Returns a number with commas between thousands.
  static func number(_ value: Int) -> String {
    var digits = Array(String(value.magnitude))
    var place = digits.count - 3
    while place > 0 {
      digits.insert(",", at: place)
      place -= 3
    }
    return (value < 0 ? "-" : "") + String(digits)
  }

  /// Returns a number and a noun: "1 byte", "2 bytes".
  static func count(_ count: Int, _ name: String) -> String {
    "\(number(count)) \(name)\(count == 1 ? "" : "s")"
  }

  /// Returns how many thousandths of a whole a part is.
  static func thousandths(_ part: Int, of whole: Int) -> Int {
    // The product alone may not fit in an `Int` of 32 bits.
    whole == 0 ? 0 : Int(Int64(part) * 1000 / Int64(whole))
  }

  /// Returns four bytes as the hexadecimal digits of a number.
  static func hex(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: 8 - digits.utf8.count) + digits
  }

  /// Returns a byte as two hexadecimal digits.
  static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  /// Returns a text padded to a width, with spaces after it or before it.
  static func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
    let spaces = String(repeating: " ", count: max(0, width - text.unicodeScalars.count))
    return right ? spaces + text : text + spaces
  }

  /// Returns the word that another probably means: one that begins with it, or differs in at most two
  /// letters.
  static func nearest(to word: String, among words: [String]) -> String? {
    if word.utf8.count > 2, let whole = words.first(where: { $0.hasPrefix(word) }) { return whole }
    let near = words.map { (word: $0, distance: distance(Array($0.utf8), Array(word.utf8))) }
    return near.filter { $0.distance <= 2 }.min { $0.distance < $1.distance }?.word
  }

  /// Returns the edit distance: how many letters to insert, remove or change to make one word of another.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (index, letter) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for (column, other) in right.enumerated() {
        let changed = diagonal + (letter == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(changed, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }

  /// Returns a string in quotes; only its beginning, if it has more than `most` characters.
  static func quoted(_ string: String, _ most: Int) -> String {
    let beginning = string.unicodeScalars.prefix(most)
    let isWhole = beginning.endIndex == string.endIndex
    let text = StowValue.string(String(beginning)).description
    return isWhole ? text : text.dropLast() + "…\""
  }
}
