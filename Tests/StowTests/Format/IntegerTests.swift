import Stow
import Testing

@Suite("Integers")
struct IntegerTests {
  private static func check<T: FixedWidthInteger & Codable>(_ type: T.Type) {
    var values: Set<T> = [.min, .max, .min + 1, .max - 1, 0, 1]
    for shift in 0..<T.bitWidth {
      let power = T(1) << shift
      for value in [power, power &- 1, power &+ 1] { values.formUnion([value, 0 &- value]) }
    }
    for value in values {
      do {
        #expect(try roundTrip(value) == value)
      } catch {
        Issue.record(error, "\(value)")
      }
    }
    let list = values.sorted()
    expectRoundTrip(list)
    expectRoundTrip(list.map { [$0] })
    expectRoundTrip(Dictionary(uniqueKeysWithValues: list.map { ("\($0)", $0) }))
    for value in [T.min, T.max, 0] { expectRoundTrip(value) }
  }

  @Test("integers of 8 bits are decoded unchanged")
  func bits8() {
    Self.check(Int8.self)
    Self.check(UInt8.self)
    expectRoundTrip(Array(Int8.min...Int8.max))
    expectRoundTrip(Array(UInt8.min...UInt8.max))
  }

  @Test("integers of 16 bits are decoded unchanged")
  func bits16() {
    Self.check(Int16.self)
    Self.check(UInt16.self)
  }

  @Test("integers of 32 bits are decoded unchanged")
  func bits32() {
    Self.check(Int32.self)
    Self.check(UInt32.self)
  }

  @Test("integers of 64 bits are decoded unchanged")
  func bits64() {
    Self.check(Int64.self)
    Self.check(UInt64.self)
  }

  @Test("integers of the machine's width are decoded unchanged")
  func machineWidth() {
    Self.check(Int.self)
    Self.check(UInt.self)
  }

  @Test("integers of 128 bits are decoded unchanged")
  func bits128() {
    Self.check(Int128.self)
    Self.check(UInt128.self)
  }

  @Test("Bools are decoded unchanged")
  func bool() {
    expectRoundTrip(true)
    expectRoundTrip(false)
  }

  @Test("smaller integers never make larger messages")
  func sizes() throws {
    let sizes = try [1, 1 << 10, 1 << 20, 1 << 40, .max].map { try StowEncoder().encode($0).count }
    #expect(sizes == sizes.sorted())
  }
}
