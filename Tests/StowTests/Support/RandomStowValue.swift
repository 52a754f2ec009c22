import Foundation
import Stow

extension StowValue {
  /// A value of any kind, as a message holds it.
  static func ofAnyKind(_ random: inout SeededGenerator, depth: Int) -> StowValue {
    switch random.below(depth > 0 ? 17 : 13) {
    case 0: .null
    case 1: .nestedNull(level: 1 + random.below(255))
    case 2: .bool(random.below(2) == 0)
    case 3: .integer(Int128(Int64.random(&random)))
    case 4: StowValue(UInt128(random.next()) << 64 | UInt128(random.next()))
    case 5: .double(.random(&random))
    case 6: .double(Double(bitPattern: random.next() | 0x7FF0_0000_0000_0001))
    case 7: .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next()) | 0x7F80_0001))
    case 8: .string(random.text())
    case 9: .data(.random(&random))
    case 10: .date(.random(&random))
    case 11: .uuid(.random(&random))
    case 12: random.below(2) == 0 ? .url(random.text()) : .decimal(.random(&random))
    case 13, 14: .array((0..<random.below(6)).map { _ in Self.ofAnyKind(&random, depth: depth - 1) })
    default:
      .object(StowObject((0..<random.below(6)).map { _ in (random.text(), Self.ofAnyKind(&random, depth: depth - 1)) }))
    }
  }
}
