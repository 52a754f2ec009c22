/// Reads messages, a line each, and prints a line for each: what it means, a tab, and its bytes as the library writes
/// it again; or "refused" and why.
///
/// A line has the hexadecimal digits of the message, and perhaps, with spaces between, those of the message of a
/// context and "implicit" if messages do not name that.
@main
struct Narrow {
  static func main() {
    for line in input().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
      output(answer(Array(line)) + [UInt8(ascii: "\n")])
    }
  }

  private static func answer(_ line: [UInt8]) -> [UInt8] {
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map(bytes)
    do throws(FormatError) {
      let message = try words[0].withUnsafeBufferPointer { message throws(FormatError) in
        try MessageNodes(
          UnsafeRawBufferPointer(message), context: words.count > 1 ? words[1] : nil,
          isImplicit: words.count > 2)
      }
      let again = NodeWriter.bytes(of: message)
      return NodeText(message.value).bytes + [UInt8(ascii: "\t")] + NodeText(.data(again)).bytes.dropFirst(5)
    } catch {
      return Array("refused: \(name(error.kind)) at \(error.offset)".utf8)
    }
  }

  private static func name(_ kind: FormatError.Kind) -> String {
    switch kind {
    case .truncated: "truncated"
    case .malformed, .surplus: "malformed"
    case .ambiguous: "ambiguous"
    case .exceedsInt: "too large"
    case .reserved: "reserved"
    case .invalidText: "invalid text"
    case .repeatedKey, .equalKeys: "repeated key"
    case .mismatch, .cellMismatch, .several, .wrongText: "mismatch"
    case .unrepresentable, .notAnInteger: "unrepresentable"
    case .tooDeep, .noRoom: "too deep"
    case .tooManyDefinitions: "too many definitions"
    }
  }

  private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for digit in digits {
      let value = digit <= UInt8(ascii: "9") ? digit & 15 : (digit & 15) + 9
      if let first = high { bytes.append(first << 4 | value) }
      high = high == nil ? value : nil
    }
    return bytes
  }

  private static func input() -> [UInt8] {
    var all: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let size = part.withUnsafeMutableBytes { system_read($0.baseAddress, $0.count) }
      if size == 0 { return all }
      all.append(contentsOf: part[..<size])
    }
  }

  private static func output(_ line: [UInt8]) { line.withUnsafeBytes { system_write($0.baseAddress, $0.count) } }
}
