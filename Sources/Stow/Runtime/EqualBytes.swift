/// Whether `count` bytes at two places are the same.
@inline(__always)
func equalBytes(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, count: Int) -> Bool {
  if count >= 8 {
    var offset = 0
    while offset <= count &- 8 {
      let one = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if one != right.loadUnaligned(fromByteOffset: offset, as: UInt64.self) { return false }
      offset &+= 8
    }
    let last = count &- 8
    return left.loadUnaligned(fromByteOffset: last, as: UInt64.self)
      == right.loadUnaligned(fromByteOffset: last, as: UInt64.self)
  }
  for offset in 0..<count
  where left.load(fromByteOffset: offset, as: UInt8.self)
    != right.load(fromByteOffset: offset, as: UInt8.self)
  {
    return false
  }
  return true
}

/// Whether two buffers hold the same bytes.
@inline(__always)
func equalBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
  guard left.count == right.count else { return false }
  guard let one = left.baseAddress, let other = right.baseAddress else { return true }
  return equalBytes(one, other, count: left.count)
}
