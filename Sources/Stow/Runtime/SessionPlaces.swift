import Synchronization

/// The addresses of sessions that a pool holds a reference to: a few places, each taken and filled by one atomic
/// operation.
///
/// A thread begins at a place of its own, mostly, and so finds the session that it used last, in its own
/// caches. Two threads that exchange sessions wait for each other's memory.
struct SessionPlaces: ~Copyable, @unchecked Sendable {
  private let places: UnsafeMutablePointer<Place>

  /// A power of two.
  private static let count = 8

  init() {
    places = .allocate(capacity: Self.count)
    for number in 0..<Self.count { (places + number).initialize(to: Place()) }
  }

  deinit {
    places.deinitialize(count: Self.count)
    places.deallocate()
  }

  /// Takes an address out of the first place that has one.
  @inline(__always)
  func take() -> UnsafeRawPointer? {
    let home = Self.home()
    return places[home].take() ?? takeElsewhere(home)
  }

  /// Puts an address into the first place that is free; false if none is.
  @inline(__always)
  func give(_ address: UnsafeRawPointer) -> Bool {
    let home = Self.home()
    return places[home].give(address) || giveElsewhere(address, home)
  }

  @inline(never)
  private func takeElsewhere(_ home: Int) -> UnsafeRawPointer? {
    for step in 1..<Self.count {
      if let address = places[(home &+ step) & (Self.count &- 1)].take() { return address }
    }
    return nil
  }

  @inline(never)
  private func giveElsewhere(_ address: UnsafeRawPointer, _ home: Int) -> Bool {
    (1..<Self.count).contains { places[(home &+ $0) & (Self.count &- 1)].give(address) }
  }

  /// The place at which the current thread begins, told by where its stack is.
  @inline(__always)
  private static func home() -> Int {
    // The address is all that is wanted: nothing on the stack needs a guard.
    var marker: UInt8 = 0
    let address = _withUnprotectedUnsafeMutablePointer(to: &marker) { UInt64(UInt(bitPattern: $0)) }
    // Stacks are apart by half a megabyte or more. The multiplication spreads those that follow each other.
    let spread = (address >> 19) &* 0x9E37_79B9_7F4A_7C15
    return Int(spread >> 61) & (count &- 1)
  }
}

/// A place, on a cache line of its own.
private struct Place: ~Copyable {
  private let address = Atomic<UInt>(0)
  private let padding: (Line, Line) = (Line(), Line())

  /// 64 bytes.
  private struct Line {
    private let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
      0, 0, 0, 0, 0, 0, 0, 0
    )
  }

  @inline(__always)
  func take() -> UnsafeRawPointer? {
    guard address.load(ordering: .relaxed) != 0 else { return nil }
    return UnsafeRawPointer(bitPattern: address.exchange(0, ordering: .acquiring))
  }

  @inline(__always)
  func give(_ address: UnsafeRawPointer) -> Bool {
    self.address.compareExchange(expected: 0, desired: UInt(bitPattern: address), ordering: .releasing)
      .exchanged
  }
}
