import Foundation
import Stow
import Testing

@Suite("Kinds not read as one another")
struct WrongKindTests {
  private func expectRefusedEverywhere<T: Codable>(
    _ type: T.Type, from value: some Codable, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expectRefused(type, from: value, sourceLocation: sourceLocation)
    expectRefused([T].self, from: [value], at: 0, sourceLocation: sourceLocation)
    expectRefused([T].self, from: [value, value, value], at: 0, sourceLocation: sourceLocation)
    expectRefused([String: T].self, from: ["k": value], at: "k", sourceLocation: sourceLocation)
  }

  @Test("a Bool is never a number", arguments: [true, false])
  func bool(value: Bool) {
    expectRefusedEverywhere(Int.self, from: value)
    expectRefusedEverywhere(UInt8.self, from: value)
    expectRefusedEverywhere(Int128.self, from: value)
    expectRefusedEverywhere(Double.self, from: value)
    expectRefusedEverywhere(Float.self, from: value)
    expectRefusedEverywhere(Decimal.self, from: value)
    expectRefusedEverywhere(Date.self, from: value)
    expectRefusedEverywhere(String.self, from: value)
  }

  @Test("a number is never a Bool")
  func number() {
    expectRefusedEverywhere(Bool.self, from: 0)
    expectRefusedEverywhere(Bool.self, from: 1)
    expectRefusedEverywhere(Bool.self, from: 1.0)
    expectRefusedEverywhere(Bool.self, from: Float(0))
    expectRefusedEverywhere(Bool.self, from: Decimal(1))
  }

  @Test("a number is never a String")
  func numberAsString() {
    expectRefusedEverywhere(String.self, from: 1)
    expectRefusedEverywhere(String.self, from: 0.5)
    expectRefusedEverywhere(UUID.self, from: 1)
    expectRefusedEverywhere(URL.self, from: 1)
  }

  @Test("a String is never a number", arguments: ["1", "0.5", "true", "NaN", ""])
  func string(value: String) {
    expectRefusedEverywhere(Int.self, from: value)
    expectRefusedEverywhere(UInt128.self, from: value)
    expectRefusedEverywhere(Double.self, from: value)
    expectRefusedEverywhere(Decimal.self, from: value)
    expectRefusedEverywhere(Date.self, from: value)
    expectRefusedEverywhere(Bool.self, from: value)
  }

  @Test("a scalar is never a container")
  func scalar() {
    for value in [true, 1, 0.5, "text"] as [JSONValue] {
      expectRefusedEverywhere([Int].self, from: value)
      expectRefusedEverywhere([String: Int].self, from: value)
      expectRefusedEverywhere([JSONValue].self, from: value)
    }
  }

  @Test("a container is never a scalar or another container")
  func container() {
    for value in [[], [1], [:], ["k": 1], [0.5, 0.25], [true], [["x": 1]]] as [JSONValue] {
      expectRefusedEverywhere(Int.self, from: value)
      expectRefusedEverywhere(Double.self, from: value)
      expectRefusedEverywhere(Bool.self, from: value)
      expectRefusedEverywhere(String.self, from: value)
      expectRefusedEverywhere(Date.self, from: value)
      expectRefusedEverywhere(UUID.self, from: value)
      if case .array = value {
        expectRefusedEverywhere([String: Int].self, from: value)
      } else {
        expectRefusedEverywhere([Int].self, from: value)
      }
    }
  }

  @Test("a fraction is never an integer")
  func fraction() {
    for value in [0.5, -0.1, 1e-300, 1e300] {
      expectRefused(Int.self, from: value)
      expectRefused(UInt8.self, from: value)
      expectRefused(Int128.self, from: value)
    }
  }
}
