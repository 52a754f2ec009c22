/// The numbers of consecutive records, some of which may be left out.
///
/// ```
///  numbers   10  11  (3 left out)  15  16        places   0  1  2  3        gap: from place 2 on, 3 more
/// ```
struct RecordNumbers: Sendable {
  /// A jump in the numbers: from `place` on, they are higher by `skipped`.
  struct Gap: Sendable {
    let place: Int
    let skipped: Int
  }

  let first: Int
  /// The number after the last record, present or left out.
  private(set) var end: Int
  /// How many records are present.
  private(set) var count = 0
  private(set) var gaps: [Gap] = []

  init(first: Int, count: Int = 0) {
    self.first = first
    self.count = count
    end = first + count
  }

  private var skipped: Int { gaps.last?.skipped ?? 0 }

  /// Adds `more` records that are present.
  mutating func add(_ more: Int) {
    count += more
    end += more
  }

  /// Adds `more` records that are left out. Returns false if `more` is 0, or if their numbers would exceed
  /// the limit.
  mutating func leaveOut(_ more: Int) -> Bool {
    guard more > 0, more < BlockHead.recordLimit - end else { return false }
    gaps.append(Gap(place: count, skipped: skipped + more))
    end += more
    return true
  }

  /// Returns the number of the record at a place.
  func number(at place: Int) -> Int {
    if gaps.isEmpty { return first + place }
    let gap = gaps.partitionPoint { $0.place <= place }
    return first + place + (gap == 0 ? 0 : gaps[gap - 1].skipped)
  }

  /// Returns the place of the first record with this number or a higher one; ``count`` if no record has one.
  func place(from number: Int) -> Int {
    let offset = max(0, number - first)
    if gaps.isEmpty { return min(offset, count) }
    // Finds the gaps that end before the number, and after them the records up to the next gap.
    let gap = gaps.partitionPoint { $0.place + $0.skipped <= offset }
    let next = gap < gaps.count ? gaps[gap].place : count
    return min(offset - (gap == 0 ? 0 : gaps[gap - 1].skipped), next)
  }

  /// Returns the place of a record, or nil if it is left out, or not one of these.
  func place(of number: Int) -> Int? {
    guard first <= number, number < end else { return nil }
    let place = place(from: number)
    return place < count && self.number(at: place) == number ? place : nil
  }

  /// Returns the numbers of the records at some places, at least one.
  func part(_ places: Range<Int>) -> RecordNumbers {
    var part = RecordNumbers(first: number(at: places.lowerBound), count: places.count)
    let before = part.first - first - places.lowerBound
    part.gaps = gaps.filter { places.lowerBound < $0.place && $0.place < places.upperBound }
      .map { Gap(place: $0.place - places.lowerBound, skipped: $0.skipped - before) }
    part.end += part.skipped
    return part
  }
}
