import Foundation

/// Decisions read from the input of a fuzzer, a byte each. After its end all are 0.
final class Choices {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  var isEmpty: Bool { position >= bytes.count }

  func next() -> UInt8 {
    guard !isEmpty else { return 0 }
    defer { position += 1 }
    return bytes[position]
  }

  func below(_ bound: Int) -> Int { Int(next()) % bound }

  /// Says what was decided, if the environment has `FUZZ_TRACE`: how to see what an input does.
  func trace(_ decision: @autoclosure () -> String) {
    if Self.isTraced { FileHandle.standardError.write(Data((decision() + "\n").utf8)) }
  }

  private static let isTraced = ProcessInfo.processInfo.environment["FUZZ_TRACE"] != nil

  func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
