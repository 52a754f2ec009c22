#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the tape names by index and the recording keeps alive: copying it would cost more.
enum RetainedValue {
  case data(Data)
  case ints([Int])
  case integers([Int64])
  case doubles([Double])
  case bools([Bool])

  /// The number of elements.
  var count: Int {
    switch self {
    case .data(let data): data.count
    case .ints(let values): values.count
    case .integers(let values): values.count
    case .doubles(let values): values.count
    case .bools(let values): values.count
    }
  }

  /// The elements, which must be integers.
  func withIntegers<Result>(_ body: (UnsafeBufferPointer<Int64>) -> Result) -> Result {
    switch self {
    case .integers(let values): return values.withUnsafeBufferPointer(body)
    case .ints(let values):
      #if _pointerBitWidth(_64)
        return values.withUnsafeBufferPointer { $0.withMemoryRebound(to: Int64.self, body) }
      #else
        return values.map(Int64.init).withUnsafeBufferPointer(body)
      #endif
    default: preconditionFailure("not an array of integers")
    }
  }
}
