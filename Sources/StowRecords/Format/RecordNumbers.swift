/// The numbers of records that stand one after the other, of which some may be left out.
///
/// ```
///  numbers   10  11  (3 left out)  15  16        places   0  1  2  3        gap: from place 2 on, 3 more
/// ```
struct RecordNumbers: Sendable {
  /// From a place on, numbers are so much higher.
  struct Gap: Sendable {
    let place: Int
    let skipped: Int
  }

  let first: Int
  /// The number after the last record, there or left out.
  private(set) var end: Int
  /// How many records there are.
  private(set) var count = 0
  private(set) var gaps: [Gap] = []

  init(first: Int, count: Int = 0) {
    self.first = first
    self.count = count
    end = first + count
  }

  private var skipped: Int { gaps.last?.skipped ?? 0 }

  /// Adds so many records that are there.
  mutating func add(_ more: Int) {
    count += more
    end += more
  }

  /// Adds so many that are left out; false if there are none, or if they would have numbers that no record has.
  mutating func leaveOut(_ more: Int) -> Bool {
    guard more > 0, more < BlockHead.recordLimit - end else { return false }
    gaps.append(Gap(place: count, skipped: skipped + more))
    end += more
    return true
  }

  /// The number of the record at a place.
  func number(at place: Int) -> Int {
    if gaps.isEmpty { return first + place }
    let gap = gaps.partitionPoint { $0.place <= place }
    return first + place + (gap == 0 ? 0 : gaps[gap - 1].skipped)
  }

  /// The place of the first record that has a number or a higher one; ``count`` if none has.
  func place(from number: Int) -> Int {
    let offset = max(0, number - first)
    if gaps.isEmpty { return min(offset, count) }
    // The gaps that end before the number, and after them the records up to the next one.
    let gap = gaps.partitionPoint { $0.place + $0.skipped <= offset }
    let next = gap < gaps.count ? gaps[gap].place : count
    return min(offset - (gap == 0 ? 0 : gaps[gap - 1].skipped), next)
  }

  /// The place of a record; nil if it is left out, or not one of these.
  func place(of number: Int) -> Int? {
    guard first <= number, number < end else { return nil }
    let place = place(from: number)
    return place < count && self.number(at: place) == number ? place : nil
  }

  /// The same for the records at some places, of which there is one.
  func part(_ places: Range<Int>) -> RecordNumbers {
    var part = RecordNumbers(first: number(at: places.lowerBound), count: places.count)
    let before = part.first - first - places.lowerBound
    part.gaps = gaps.filter { places.lowerBound < $0.place && $0.place < places.upperBound }
      .map { Gap(place: $0.place - places.lowerBound, skipped: $0.skipped - before) }
    part.end += part.skipped
    return part
  }
}
