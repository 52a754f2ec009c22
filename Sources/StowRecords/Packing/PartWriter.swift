/// Writes the parts of a packed record. Bytes between copies become parts of their own.
struct PartWriter {
  private let record: UnsafeRawBufferPointer
  private let packed: UnsafeMutableRawBufferPointer
  /// How many bytes of the record the parts cover so far.
  private var done = 0
  /// How many bytes the parts take.
  private(set) var end = 0

  /// - Parameter packed: Room for the bytes of the record, one more for every 128 of them, and two more.
  init(_ record: UnsafeRawBufferPointer, _ packed: UnsafeMutableRawBufferPointer) {
    self.record = record
    self.packed = packed
  }

  /// Adds a copy for the bytes from `place` on, after a part for the bytes before them.
  @inline(__always)
  mutating func putCopy(_ offset: Int, _ length: Int, at place: Int) {
    if place > done { putLiterals(before: place) }
    let code = min(length, PackedParts.longCopy) - PackedParts.leastCopy
    put(UInt8(truncatingIfNeeded: 0x80 | code << 4 | offset >> 8))
    put(UInt8(truncatingIfNeeded: offset))
    if length >= PackedParts.longCopy { put(UInt8(length - PackedParts.longCopy)) }
    done = place + length
  }

  /// Adds a part for the rest of the record, unless nothing was copied.
  @inline(__always)
  mutating func finish() {
    if done > 0, done < record.count { putLiterals(before: record.count) }
  }

  @inline(__always)
  private mutating func putLiterals(before place: Int) {
    while done < place {
      let count = min(PackedParts.mostLiterals, place - done)
      put(UInt8(truncatingIfNeeded: count - 1))
      precondition(count <= packed.count - end)
      let source = UnsafeRawBufferPointer(rebasing: record[done..<(done + count)])
      UnsafeMutableRawBufferPointer(rebasing: packed[end..<(end + count)]).copyMemory(from: source)
      done += count
      end += count
    }
  }

  @inline(__always)
  private mutating func put(_ byte: UInt8) {
    precondition(end < packed.count)
    packed[end] = byte
    end += 1
  }
}
