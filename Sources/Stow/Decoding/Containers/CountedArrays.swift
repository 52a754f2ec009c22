/// Where the elements of arrays stand that were asked for their count while they were read.
///
/// An array does not say how many elements it has: that takes a walk. One that is asked at every element, as
/// `while container.currentIndex < container.count ?? 0` asks it, would be walked as often.
final class CountedArrays {
  private struct Counted {
    let end: Int
    /// The number of the first element whose place was noted.
    let firstIndex: Int
    /// The places of the elements from that one on.
    let offsets: [Int]

    /// Returns whether these elements are those of an array within, or of this one.
    func holds(_ elements: Range<Int>) -> Bool {
      offsets[0] <= elements.lowerBound && elements.upperBound <= end
    }

    /// Returns the number of elements, or nil if none stands at `offset` that has the given number.
    func count(ifElement index: Int, standsAt offset: Int) -> Int? {
      let place = index - firstIndex
      return offsets.indices.contains(place) && offsets[place] == offset ? firstIndex + offsets.count : nil
    }
  }

  /// Each within the one before it.
  private var arrays: [Counted] = []

  /// Returns the number of elements of an array.
  ///
  /// - Parameters:
  ///   - elements: Those that are left, of which there is at least one.
  ///   - index: The number of the first of them.
  func count(_ elements: Range<Int>, from index: Int, _ reader: ByteReader) throws(FormatError) -> Int {
    while let innermost = arrays.last, !innermost.holds(elements) { arrays.removeLast() }
    if let innermost = arrays.last, innermost.end == elements.upperBound,
      let count = innermost.count(ifElement: index, standsAt: elements.lowerBound)
    {
      return count
    }
    var offsets: [Int] = []
    let count = try Arrays.count(elements, reader) { offsets.append($0) }
    arrays.append(Counted(end: elements.upperBound, firstIndex: index, offsets: offsets))
    return index + count
  }
}
