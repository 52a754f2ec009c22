import Foundation
import Stow

// An app of three versions, a namespace each. What it wrote under one must be read under the others.

/// The first version.
enum First {
  struct Order: Codable, Equatable {
    var client: String
    var total: Decimal
    var note: String?
    var delivery: Delivery
    var lines: [Line]
    var coupon: String?
  }

  enum Delivery: Codable, Equatable {
    case parcel(weight: Int)
    case pickup
  }

  struct Line: Codable, Equatable {
    var item: String
    var count: Int
  }

  static let orders = [
    Order(
      client: "Ada", total: 12.5, note: "gift", delivery: .parcel(weight: 3),
      lines: [Line(item: "pen", count: 2)], coupon: "A1"),
    Order(client: "Bo", total: 1, note: nil, delivery: .pickup, lines: [], coupon: nil),
  ]
}

/// The second version: `client` is now called `customer`, `phone` was added, `coupon` was removed.
enum Second {
  struct Order: Codable, Equatable {
    var customer: String
    var total: Decimal
    var note: String?
    var delivery: First.Delivery
    var lines: [First.Line]
    var phone: String?

    enum CodingKeys: String, CodingKey, StowFormerNames {
      case customer, total, note, delivery, lines, phone
      static let formerNames: [CodingKeys: [String]] = [.customer: ["client"]]
    }
  }

  static let orders = [
    Order(
      customer: "Cy", total: 3, note: "soon", delivery: .parcel(weight: 1),
      lines: [First.Line(item: "ink", count: 1)], phone: "123"),
    Order(customer: "Di", total: 4, note: nil, delivery: .pickup, lines: [], phone: nil),
  ]
}

/// The third version: the case `parcel` is now called `shipping`, `item` is called `article`, and `note` is required,
/// with the template's text where there was none.
enum Third {
  struct Order: Codable, Equatable {
    var customer = ""
    var total: Decimal = 0
    var note = "none"
    var delivery = Delivery.pickup
    var lines: [Line] = []
    var phone: String?

    enum CodingKeys: String, CodingKey, StowFormerNames {
      case customer, total, note, delivery, lines, phone
      static let formerNames: [CodingKeys: [String]] = [.customer: ["client"]]
    }
  }

  enum Delivery: Codable, Equatable {
    case shipping(weight: Int)
    case pickup

    enum CodingKeys: CodingKey, StowFormerNames {
      case shipping, pickup
      static let formerNames: [CodingKeys: [String]] = [.shipping: ["parcel"]]
    }
  }

  struct Line: Codable, Equatable {
    var article: String
    var count: Int

    enum CodingKeys: CodingKey, StowFormerNames {
      case article, count
      static let formerNames: [CodingKeys: [String]] = [.article: ["item"]]
    }
  }

  static let orders = [
    Order(
      customer: "Eve", total: 9, note: "late", delivery: .shipping(weight: 2),
      lines: [Line(article: "cup", count: 1)], phone: "456"),
    Order(customer: "Flo", total: 5, phone: nil),
  ]
}
