import Foundation
import Testing

/// What memory of the process is resident, where Linux says it.
enum ResidentMemory {
  /// Whether the system says it; a test that measures must not pass where it does not.
  static let isKnown = current != nil && peak != nil

  /// In bytes, now.
  static var current: Int? { read("VmRSS:") }
  /// In bytes, the most since the process began or `resetPeak` was called.
  static var peak: Int? { read("VmHWM:") }

  /// Begins to measure anew. Memory that was freed is given back before, so that nothing takes it unseen.
  static func resetPeak() throws {
    // Its header is not among those that Swift sees.
    let trim = dlsym(nil, "malloc_trim").map { unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self) }
    _ = trim?(0)
    try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
  }

  /// Returns how many bytes are resident once memory that was freed is given back.
  static func settled() throws -> Int {
    try resetPeak()
    return try #require(current)
  }

  private static func read(_ field: String) -> Int? {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix(field) }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }
}
