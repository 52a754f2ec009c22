/// Looks for objects that could not be decoded: an object is made when all that it refers to is.
struct ReferenceCheck {
  struct Fault {
    /// The number of the object.
    let number: Int
    let reason: String
  }

  /// How many objects may lead to each other in a row: decoding one calls decoding the next, and each takes some of the
  /// calls that `maximumDepth` allows, and room on the stack.
  static let longestChain = 128

  /// The numbers of the objects that each object refers to.
  private let references: [[Int]]
  /// How long the longest chain from an object is, where that is known.
  private var chains: [Int?]
  /// Whether an object is on the way that is being followed.
  private var isOnWay: [Bool]

  init(_ references: [[Int]]) {
    self.references = references
    chains = Array(repeating: nil, count: references.count)
    isOnWay = Array(repeating: false, count: references.count)
  }

  /// Returns an object that cannot be decoded; nil if all can. Takes time in proportion to the references.
  func firstFault() -> Fault? {
    var check = self
    for number in references.indices {
      if let fault = check.follow(from: number) { return fault }
    }
    return nil
  }

  /// Follows all references from an object. Not by calling itself: what is checked may be of any depth.
  private mutating func follow(from start: Int) -> Fault? {
    guard chains[start] == nil else { return nil }
    var way = [(number: start, next: 0)]
    isOnWay[start] = true
    while let (number, next) = way.last {
      if next < references[number].count {
        way[way.count - 1].next += 1
        let reference = references[number][next]
        if isOnWay[reference] { return Fault(number: reference, reason: "The object leads to itself.") }
        guard chains[reference] == nil else { continue }
        isOnWay[reference] = true
        way.append((reference, 0))
      } else {
        let chain = 1 + (references[number].compactMap { chains[$0] }.max() ?? 0)
        guard chain <= Self.longestChain else {
          return Fault(
            number: number, reason: "More than \(Self.longestChain) objects lead to each other in a row.")
        }
        chains[number] = chain
        isOnWay[number] = false
        way.removeLast()
      }
    }
    return nil
  }
}
