import Stow
import Testing

@Suite("Types of the standard library")
struct StandardLibraryTests {
  @Test("arrays are decoded unchanged")
  func arrays() {
    expectRoundTrip([Int]())
    expectRoundTrip([[Int]]())
    expectRoundTrip([[], [1], [], [2, 3]])
    expectRoundTrip([[[["deep"]]]])
    expectRoundTrip(ContiguousArray([1, 2, 3]))
    expectRoundTrip(ContiguousArray(["a", "b"]))
    expectRoundTrip(ContiguousArray<Double>())
    expectRoundTrip([ContiguousArray([true]), []])
  }

  @Test("sets are decoded unchanged")
  func sets() {
    expectRoundTrip(Set<Int>())
    expectRoundTrip(Set(0..<100))
    expectRoundTrip(Set(["a", "b", "c"]))
    expectRoundTrip(Set([[1], [2, 3], []]))
    expectRoundTrip(Set([0.5, -0.25]))
  }

  @Test("ranges are decoded unchanged")
  func ranges() {
    expectRoundTrip(1..<5)
    expectRoundTrip(3..<3)
    expectRoundTrip(-2...7)
    expectRoundTrip(0.5..<1.5)
    expectRoundTrip("a"..."f")
    expectRoundTrip(1...) { $0.lowerBound == $1.lowerBound }
    expectRoundTrip(...2.5) { $0.upperBound == $1.upperBound }
    expectRoundTrip(..<"z") { $0.upperBound == $1.upperBound }
    expectRoundTrip([1..<2, 2..<3, 3..<4])
  }

  @Test("collection differences are decoded unchanged")
  func differences() {
    expectRoundTrip([1, 2, 3, 4].difference(from: [2, 3, 5]))
    expectRoundTrip(["a", "b"].difference(from: ["b", "c", "a"]).inferringMoves())
    expectRoundTrip([Int]().difference(from: []))
    expectRoundTrip(CollectionDifference<String>.Change.insert(offset: 1, element: "x", associatedWith: 3))
    expectRoundTrip(CollectionDifference<String>.Change.remove(offset: 1, element: "x", associatedWith: nil))
  }

  @Test("durations and instants are decoded unchanged")
  func durations() {
    expectRoundTrip(Duration.zero)
    expectRoundTrip(Duration.seconds(-1.5))
    expectRoundTrip(Duration(secondsComponent: .max, attosecondsComponent: 999_999_999_999_999_999))
    expectRoundTrip(Duration(secondsComponent: .min, attosecondsComponent: 0))
    expectRoundTrip([Duration.milliseconds(1), .nanoseconds(1), .microseconds(-1)])
    expectRoundTrip(ContinuousClock.now)
    expectRoundTrip(SuspendingClock.now)
  }

  @Test("SIMD vectors are decoded unchanged")
  func simd() {
    expectRoundTrip(SIMD2<Int>(1, -2))
    expectRoundTrip(SIMD3<Double>(0.1, 2, -0.5))
    expectRoundTrip(SIMD4<Float>(0.1, 2, -0.5, 1e30))
    expectRoundTrip(SIMD8<UInt8>(0, 1, 2, 3, 4, 5, 6, 255))
    expectRoundTrip(SIMD16<Int16>(repeating: -300))
    expectRoundTrip(SIMD32<UInt32>(repeating: .max))
    expectRoundTrip(SIMD64<Int8>(repeating: .min))
    expectRoundTrip((0..<20).map { SIMD3<Double>(Double($0) / 4, 0.1, -1) })
    expectRoundTrip((0..<20).map { SIMD2<Float>(Float($0), 0.1) })
    expectRoundTrip(SIMD4<Int32>(1, 2, 3, 4) .< SIMD4<Int32>(2, 2, 2, 5))
  }

  @Test("task priorities are decoded unchanged")
  func priorities() {
    expectRoundTrip(TaskPriority.background)
    expectRoundTrip([TaskPriority.high, .low])
  }

  @Test("Never cannot be decoded")
  func never() {
    #expect(failure { try transcode([1], to: [Never].self) }?.path == [0])
    #expect(try! transcode([Int](), to: [Never].self).isEmpty)
    #expect(try! transcode([nil] as [Int?], to: [Never?].self).count == 1)
  }
}

@Suite("Enumerations")
struct EnumTests {
  private enum Plain: String, Codable {
    case a, b
    case long = "a rather longer raw value"
  }
  private enum Number: Int8, Codable {
    case least = -128
    case zero = 0
    case most = 127
  }
  private enum Real: Double, Codable {
    case tenth = 0.1
    case half = 0.5
  }

  private indirect enum Expression: Codable, Equatable {
    case number(Double)
    case named(String, value: Int?)
    case sum(Expression, Expression)
    case list([Expression])
    case empty
  }

  private struct Wrapper: RawRepresentable, Codable, Equatable, Hashable {
    var rawValue: String
  }

  private struct Flags: OptionSet, Codable {
    var rawValue: UInt16
  }

  @Test("enumerations and option sets with raw values are decoded unchanged")
  func raw() {
    expectRoundTrip([Plain.a, .b, .long, .long])
    expectRoundTrip([Number.least, .zero, .most])
    expectRoundTrip([Real.tenth, .half])
    expectRoundTrip(Wrapper(rawValue: "raw"))
    expectRoundTrip([Wrapper(rawValue: "raw"): 1])
    expectRoundTrip([Flags(rawValue: 0), Flags(rawValue: 0xFFFF)])
  }

  @Test("enumerations with associated values are decoded unchanged")
  func associated() throws {
    let values: [Expression] = [
      .empty, .number(0.5), .named("n", value: 1), .named("m", value: nil), .sum(.number(1), .empty),
      .list([]), .list([.empty, .list([.sum(.number(-1), .named("x", value: 2))])]),
    ]
    for value in values { expectRoundTrip(value) }
    expectRoundTrip(values)
    #expect(try transcode(Expression.named("n", value: 1), to: JSONValue.self) == ["named": ["_0": "n", "value": 1]])
    #expect(try transcode(Expression.empty, to: JSONValue.self) == ["empty": [:]])
  }

  @Test("200 nested and alternating enumeration values are decoded unchanged")
  func many() {
    let values = (0..<200).map { i -> Expression in
      switch i % 4 {
      case 0: .number(Double(i) / 8)
      case 1: .named("name \(i % 3)", value: i % 8 == 1 ? nil : i)
      case 2: .sum(.number(1), .list([.empty, .number(2)]))
      default: .empty
      }
    }
    expectRoundTrip(values)
  }
}
