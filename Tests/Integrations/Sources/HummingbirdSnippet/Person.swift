import Foundation

/// A person of a customer table: about 17 values, nested, with optionals.
package struct Person: Codable, Equatable, Sendable {
  package enum Gender: String, Codable, Sendable, CaseIterable {
    case female, male, nonbinary, undisclosed
  }

  package struct Address: Codable, Equatable, Sendable {
    package var street: String
    package var city: String
    package var zip: String
    package var country: String
    package var latitude: Double
    package var longitude: Double
  }

  package var id: Int
  package var firstName: String
  package var lastName: String
  package var email: String
  package var age: Int
  package var isActive: Bool
  package var balance: Double
  package var joined: Date
  package var gender: Gender
  package var address: Address
  package var tags: [String]
  package var nickname: String?
  package var phone: String?
  package var managerID: Int?

  /// As many people as asked, the same ones each time.
  package static func make(count: Int) -> [Person] { (0..<count).map(make) }

  private static func make(id: Int) -> Person {
    let first = ["Ada", "Grace", "Alan", "Edsger", "Barbara", "Tony", "Radia"][id % 7]
    let last = ["Lovelace", "Hopper", "Turing", "Dijkstra", "Liskov"][id % 5]
    return Person(
      id: id, firstName: first, lastName: last,
      email: "\(first.lowercased()).\(last.lowercased())\(id)@example.com", age: 18 + id * 7 % 70,
      isActive: id % 5 > 0, balance: Double(id * 7919 % 2_000_000) / 100,
      joined: Date(timeIntervalSince1970: 1_700_000_000 + Double(id) * 3600), gender: Gender.allCases[id % 4],
      address: Address(
        street: "\(id % 250) High Street", city: ["Hamburg", "Dresden", "Bremen"][id % 3],
        zip: String(10_000 + id * 37 % 80_000), country: "Germany",
        latitude: Double(id * 7919 % 180_000) / 1e3 - 90,
        longitude: Double(id * 104_729 % 360_000) / 1e3 - 180),
      tags: Array(["new", "vip", "late", "press"].prefix(id % 5)), nickname: id % 3 == 0 ? "Nick \(id)" : nil,
      phone: id % 2 == 0 ? "+49 \(100_000_000 + id * 7919)" : nil, managerID: id % 4 == 0 ? nil : id / 2)
  }
}
