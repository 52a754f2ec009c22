import Foundation
import Stow
import Testing

@Suite("One context shared by many threads")
struct ContextThreadsTests {
  private struct Order: Codable, Equatable, Sendable {
    var number: Int
    var customer: String
    var note: String?
    var tags: [String: Bool]
    var next: [Order]?
  }

  private static func order(_ number: Int) -> Order {
    Order(
      number: number, customer: "customer \(number % 7)", note: number % 3 == 0 ? nil : "note \(number % 5)",
      tags: number % 2 == 0 ? ["new": true] : ["new": true, "late \(number)": false],
      next: number > 20 ? [order(number - 20), order(number - 19)] : nil)
  }

  @Test("every thread gets its own message, even in a context of its own")
  func shared() async throws {
    let contexts = try (0..<4).map { part in
      try StowContext(learningFrom: (0..<10).map { Self.order($0 * part) })
    }
    let expected = try contexts.map { context in
      try (0..<40).map { try StowEncoder(context, sorted: true).encode(Self.order($0)) }
    }
    let decoder = StowDecoder(contexts)
    let shared = StowEncoder(contexts[1], sorted: true)
    await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var failures = 0
          for round in 0..<120 {
            let number = (round + task * 5) % 40
            let part = (round / 3 + task) % contexts.count
            let encoder = part == 1 ? shared : StowEncoder(contexts[part], sorted: true)
            let message = try? encoder.encode(Self.order(number))
            let copy = message.flatMap { try? decoder.decode(Order.self, from: $0) }
            if message != expected[part][number] || copy != Self.order(number) { failures += 1 }
          }
          return failures
        }
      }
      for await failures in group { #expect(failures == 0) }
    }
  }

  @Test("coders whose contexts change meanwhile use one context or the other")
  func changing() async throws {
    let contexts = try (0..<2).map { try StowContext(learningFrom: [Self.order($0 + 25), Self.order($0 + 27)]) }
    let encoder = StowEncoder()
    let decoder = StowDecoder(contexts)
    await withTaskGroup(of: Int.self) { group in
      group.addTask {
        for round in 0..<200 {
          encoder.context = [contexts[0], nil, contexts[1]][round % 3]
          decoder.contexts = [contexts, contexts.reversed()][round % 2]
        }
        return 0
      }
      for _ in 0..<3 {
        group.addTask {
          (0..<100).count { number in
            guard let message = try? encoder.encode(Self.order(number % 30)),
              let copy = try? decoder.decode(Order.self, from: message)
            else { return true }
            return copy != Self.order(number % 30)
          }
        }
      }
      for await failures in group { #expect(failures == 0) }
    }
  }
}
