import Foundation

/// A value that can say what it is to the last bit, so that a failing test names it.
protocol Exact: Codable, Sendable {
  var exactly: String { get }
}

extension FixedWidthInteger {
  var exactly: String { "\(Self.self) \(self)" }
}

extension Int: Exact {}
extension Int8: Exact {}
extension Int16: Exact {}
extension Int32: Exact {}
extension Int64: Exact {}
extension Int128: Exact {}
extension UInt: Exact {}
extension UInt8: Exact {}
extension UInt16: Exact {}
extension UInt32: Exact {}
extension UInt64: Exact {}
extension UInt128: Exact {}

private func hexadecimal(_ bits: some BinaryInteger) -> String { String(bits, radix: 16) }

extension Double: Exact {
  var exactly: String { "Double \(self), bits \(hexadecimal(bitPattern))" }
}

extension Float: Exact {
  var exactly: String { "Float \(self), bits \(hexadecimal(bitPattern))" }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float16: Exact {
    var exactly: String { "Float16 \(self), bits \(hexadecimal(bitPattern))" }
  }
#endif

extension Bool: Exact {
  var exactly: String { "\(self)" }
}

extension String: Exact {
  var exactly: String { "\"" + utf8.map(hexadecimal).joined(separator: " ") + "\"" }
}

extension Date: Exact {
  var exactly: String { "Date of \(timeIntervalSinceReferenceDate.exactly)" }
}

extension Decimal: Exact {
  var exactly: String { isNaN ? "Decimal NaN" : "Decimal \(self), exponent \(exponent)" }
}

extension UUID: Exact {
  var exactly: String { uuidString }
}

extension Data: Exact {
  var exactly: String { "Data " + map(hexadecimal).joined(separator: " ") }
}

// MARK: - Values of values

extension Optional: Exact where Wrapped: Exact {
  var exactly: String { map { "some(\($0.exactly))" } ?? "none" }
}

extension Array: Exact where Element: Exact {
  var exactly: String { "[" + map(\.exactly).joined(separator: ", ") + "]" }
}

extension Set: Exact where Element: Exact {
  var exactly: String { "{" + map(\.exactly).sorted().joined(separator: ", ") + "}" }
}

extension Dictionary: Exact where Key: Exact, Value: Exact {
  var exactly: String { "[" + map { "\($0.exactly): \($1.exactly)" }.sorted().joined(separator: ", ") + "]" }
}

extension Range: Exact where Bound: Exact {
  var exactly: String { "\(lowerBound.exactly)..<\(upperBound.exactly)" }
}

extension ClosedRange: Exact where Bound: Exact {
  var exactly: String { "\(lowerBound.exactly)...\(upperBound.exactly)" }
}
