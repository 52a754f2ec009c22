/// A string that is the same as another if its bytes are, as keys of messages are (FORMAT.md, "Prelude").
///
/// `String` takes two spellings of the same characters for one string. Which those are depends on the version of Unicode,
/// and finding out takes time with the square of the combining characters that follow each other.
package struct ExactString: Hashable, Sendable {
  package let string: String

  @inline(__always)
  package init(_ string: String) { self.string = string }

  @inline(__always)
  package static func == (left: ExactString, right: ExactString) -> Bool {
    left.string.hasSameBytes(as: right.string)
  }

  package func hash(into hasher: inout Hasher) {
    let isHashed: Void? = string.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    if isHashed == nil { for byte in string.utf8 { hasher.combine(byte) } }
  }
}

extension String {
  /// Whether another string has the same bytes.
  @inline(__always)
  package func hasSameBytes(as other: String) -> Bool {
    let result: Bool?? = utf8.withContiguousStorageIfAvailable { bytes in
      other.utf8.withContiguousStorageIfAvailable {
        equalBytes(UnsafeRawBufferPointer(bytes), UnsafeRawBufferPointer($0))
      }
    }
    if case .some(.some(let areSame)) = result { return areSame }
    return utf8.elementsEqual(other.utf8)
  }
}
