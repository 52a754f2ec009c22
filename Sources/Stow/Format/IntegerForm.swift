/// The form of an integer that is a value by itself (FORMAT.md, "Integers"): its tag, and as many of its lowest bytes as
/// follow.
struct IntegerForm {
  let tag: UInt8
  let width: Int

  /// The bytes of the whole value.
  @inline(__always)
  var size: Int { 1 &+ width }

  @inline(__always)
  init(_ value: Int64) {
    if Tag.smallIntegers.contains(value) {
      tag = UInt8(truncatingIfNeeded: Int64(Tag.smallInteger) &+ 16 &+ value)
      width = 0
    } else {
      width = DecimalFraction.width(value)
      tag = Tag.integer &+ UInt8(truncatingIfNeeded: width &- 1)
    }
  }
}

extension BackwardWriter {
  /// An integer in its shortest form. Within a reserve.
  @inline(__always)
  mutating func integer(_ value: Int64) {
    let form = IntegerForm(value)
    littleEndian(UInt64(bitPattern: value), width: form.width)
    byte(form.tag)
  }

  /// The bytes that `integer` writes.
  @inline(__always)
  static func size(ofInteger value: Int64) -> Int { IntegerForm(value).size }
}
