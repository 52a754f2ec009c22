import Foundation
import Stow
import Testing

@Suite("One encoder and one decoder shared by many threads")
struct ConcurrencyTests {
  private struct Order: Codable, Equatable, Sendable {
    struct Line: Codable, Equatable, Sendable {
      var product: String
      var price: Double
      var count: Int?
    }
    var number: Int
    var customer: String
    var lines: [Line]
    var tags: [String: Bool]
    var placed: Date
  }

  private static func order(_ number: Int) -> Order {
    Order(
      number: number, customer: "customer \(number % 7)",
      lines: (0..<(number % 10)).map {
        .init(product: "product \($0 % 4)", price: Double($0) / 4, count: $0 % 2 == 0 ? nil : $0)
      },
      tags: ["new": number % 2 == 0], placed: Date(timeIntervalSinceReferenceDate: Double(number)))
  }

  @Test("every thread gets its own message when threads share coders")
  func shared() async throws {
    let encoder = StowEncoder()
    let decoder = StowDecoder()
    let expected = try (0..<40).map { try encoder.encode(Self.order($0)) }
    await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var failures = 0
          for number in 0..<40 {
            let order = Self.order((number + task * 5) % 40)
            guard let data = try? encoder.encode(order), data == expected[order.number],
              let copy = try? decoder.decode(Order.self, from: data), copy == order
            else {
              failures += 1
              continue
            }
          }
          return failures
        }
      }
      for await failures in group { #expect(failures == 0) }
    }
  }

  @Test("messages of different types, valid and invalid, are coded at the same time")
  func mixed() async throws {
    let encoder = StowEncoder()
    let decoder = StowDecoder()
    let order = try encoder.encode(Self.order(9))
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<12 {
        group.addTask {
          for round in 0..<30 {
            switch (task + round) % 4 {
            case 0:
              let value = (0..<round).map { ["key \($0)": $0] }
              guard let data = try? encoder.encode(value),
                (try? decoder.decode([[String: Int]].self, from: data)) == value
              else { return false }
            case 1:
              guard (try? decoder.decode([Double].self, from: order)) == nil else { return false }
            case 2:
              let value = Writes { encoder in
                try encoder.writeSingle(["x": "x"])
                throw Refusal()
              }
              guard (try? encoder.encode(value)) == nil else { return false }
            default:
              guard (try? decoder.decode(Order.self, from: order)) == Self.order(9) else { return false }
            }
          }
          return true
        }
      }
      for await succeeded in group { #expect(succeeded) }
    }
  }

  @Test("threads outside of any task share coders")
  func threads() throws {
    let encoder = StowEncoder()
    let decoder = StowDecoder()
    let failures = Counter()
    DispatchQueue.concurrentPerform(iterations: 64) { iteration in
      let order = Self.order(iteration)
      let copy = try? decoder.decode(Order.self, from: encoder.encode(order))
      if copy != order { failures.increment() }
    }
    #expect(failures.value == 0)
  }

  private final class Counter: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    func increment() { lock.withLock { count += 1 } }
    var value: Int { lock.withLock { count } }
  }
}
