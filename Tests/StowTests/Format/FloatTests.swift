import Stow
import Testing

@Suite("Finite floating-point values")
struct FiniteFloatTests {
  private static func check<T: BinaryFloatingPoint & Codable>(_ type: T.Type, also: [T]) {
    let magnitudes: [T] =
      [0, 1, 2, 3, 10, 0.5, 0.25, 1.5, .pi, .ulpOfOne, T(1).nextUp, T(1).nextDown, 100, 1000, 255, 256]
      + [.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude]
      + [T.leastNormalMagnitude.nextDown, T.leastNonzeroMagnitude.nextUp] + also
    for value in magnitudes + magnitudes.map({ -$0 }) {
      expectRoundTrip(value) { $0 == $1 && $0.sign == $1.sign }
    }
    expectRoundTrip(magnitudes + magnitudes.map { -$0 })
  }

  @Test("finite values of Double are decoded unchanged")
  func double() {
    Self.check(
      Double.self,
      also: [
        0.1, 0.2, 0.3, 0.1 + 0.2, 1.0 / 3, 2.5e-5, 12.345, 0.001, 1e-4, 1e-5, 1e10, 1e15, 1e16, 1e17, 1e22,
        1e23, 1e100, 1e308, 123456789.125, 4_294_967_296, 9_007_199_254_740_991, 9_007_199_254_740_992,
        1e-300,
        16_777_216, 16_777_217, 3.4028234663852886e38, 3.402823466385289e38, 2_147_483_647, 2_147_483_648,
        0.7,
        65504, 65505, 99.99, 1.1, 33.3333, 2.2250738585072014e-308,
      ])
  }

  @Test("finite values of Float are decoded unchanged")
  func float() {
    Self.check(Float.self, also: [0.1, 0.2, 0.3, 12.345, 1e10, 16_777_216, 16_777_215, 3.4e38, 65504, 1.1, 0.001])
  }

  #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    @Test("finite values of Float16 are decoded unchanged")
    func float16() { Self.check(Float16.self, also: [0.1, 65504, 2048, 0.001]) }
  #endif

  @Test("-0.0 keeps its sign")
  func negativeZero() throws {
    #expect(try roundTrip(-0.0).sign == .minus)
    #expect(try roundTrip(Float(-0.0)).sign == .minus)
    #expect(try roundTrip([0.0, -0.0, 0.0]).map(\.sign) == [.plus, .minus, .plus])
    #expect(try roundTrip([-0.0, 1, 2]).map(\.sign) == [.minus, .plus, .plus])
  }
}

@Suite("Bits of floating-point values")
struct FloatBitsTests {
  private static let doubles: [UInt64] = [
    0x7FF0_0000_0000_0000, 0xFFF0_0000_0000_0000, 0x7FF8_0000_0000_0000, 0xFFF8_0000_0000_0000,
    0x7FF8_0000_0000_0001, 0x7FF8_DEAD_BEEF_CAFE, 0xFFFF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0001,
    0x7FF4_0000_0000_0000, 0xFFF0_0000_0000_0001, 0x7FF0_0000_2000_0000, 0x7FF8_0000_2000_0000,
    0x7FF7_FFFF_FFFF_FFFF, 0x8000_0000_0000_0000, 0x0000_0000_0000_0001, 0x800F_FFFF_FFFF_FFFF,
  ]
  private static let floats: [UInt32] = [
    0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0xFFC0_0000, 0x7FC0_0001, 0x7FFF_FFFF, 0x7F80_0001, 0x7FA0_0000,
    0xFF80_0001, 0xFFBF_FFFF, 0x8000_0000, 0x0000_0001, 0x807F_FFFF,
  ]

  @Test("infinities, NaN payloads and signaling NaNs of Double keep their bits")
  func doubleBits() throws {
    for bits in Self.doubles {
      expectRoundTrip(Double(bitPattern: bits)) { $0.bitPattern == $1.bitPattern }
      expectRoundTrip(Double?(Double(bitPattern: bits))) { $0?.bitPattern == $1?.bitPattern }
    }
    let all = Self.doubles.map { Double(bitPattern: $0) }
    expectRoundTrip(all) { $0.map(\.bitPattern) == $1.map(\.bitPattern) }
    expectRoundTrip(all + [0.5]) { $0.map(\.bitPattern) == $1.map(\.bitPattern) }
  }

  @Test("infinities, NaN payloads and signaling NaNs of Float keep their bits")
  func floatBits() throws {
    for bits in Self.floats {
      expectRoundTrip(Float(bitPattern: bits)) { $0.bitPattern == $1.bitPattern }
    }
    let all = Self.floats.map { Float(bitPattern: $0) }
    expectRoundTrip(all) { $0.map(\.bitPattern) == $1.map(\.bitPattern) }
  }

  #if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    @Test("every Float16 that is a number keeps its bits")
    func float16Numbers() throws {
      let all = (UInt16.min...UInt16.max).map { Float16(bitPattern: $0) }.filter { !$0.isNaN }
      #expect(try roundTrip(all).map(\.bitPattern) == all.map(\.bitPattern))
      for value in all.filter({ $0.bitPattern % 997 == 0 }) {
        #expect(try roundTrip(value).bitPattern == value.bitPattern)
      }
    }

    @Test("every NaN of Float16 keeps its bits")
    func float16NotNumbers() throws {
      let all = (UInt16.min...UInt16.max).map { Float16(bitPattern: $0) }.filter { $0.isNaN }
      #expect(try roundTrip(all).map(\.bitPattern) == all.map(\.bitPattern))
      for bits: UInt16 in [0x7E00, 0x7C01, 0x7DFF, 0xFFFF] {
        expectRoundTrip(Float16(bitPattern: bits)) { $0.bitPattern == $1.bitPattern }
      }
    }
  #endif

  @Test("values of random bits keep their bits")
  func randomBits() throws {
    var random = SeededGenerator(seed: 1)
    let doubles = (0..<2000).map { _ in Double(bitPattern: random.next()) }
    let floats = (0..<2000).map { _ in Float(bitPattern: UInt32(truncatingIfNeeded: random.next())) }
    expectRoundTrip(doubles) { $0.map(\.bitPattern) == $1.map(\.bitPattern) }
    expectRoundTrip(floats) { $0.map(\.bitPattern) == $1.map(\.bitPattern) }
    for value in doubles.prefix(200) {
      #expect(try roundTrip(value).bitPattern == value.bitPattern)
    }
    for value in floats.prefix(200) {
      #expect(try roundTrip(value).bitPattern == value.bitPattern)
    }
  }

  @Test("a number that is up to 127 steps from a decimal fraction is written as one, shorter than in binary")
  func residues() throws {
    // Just above a power of two, the steps are largest beside the number. Beside zero they are all of it.
    let decimals = (-29...8).map { (Double(sign: .plus, exponent: $0, significand: 1) * 1e9).rounded(.up) / 1e9 }
    for decimal in [0] + decimals {
      for residue: Int64 in (decimal == 0 ? 0 : -127)...127 {
        let value = Double(bitPattern: decimal.bitPattern &+ UInt64(bitPattern: residue))
        let message = try StowEncoder().encode(value)
        guard message.count < 9, try StowDecoder().decode(Double.self, from: message) == value else {
          Issue.record("\(value)")
          return
        }
      }
    }
  }
}
