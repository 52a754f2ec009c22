/// What a reader of bytes found wrong, and where.
///
/// It knows nothing of `Codable`: the decoder turns it into a `DecodingError` with a coding path. It is a
/// plain value, so that throwing one costs no allocation: reading one type after another until one fits
/// throws often.
package struct FormatError: Error {
  package enum Kind: UInt8, Sendable {
    /// The bytes end before the value does.
    case truncated
    /// The bytes break a rule of the format.
    case malformed
    /// A length, a count or a number of something that `Int` does not hold where it has 32 bits.
    case tooLarge
    /// A reserved tag.
    case reserved
    /// Bytes that are not UTF-8.
    case invalidText
    /// A key that an object has twice.
    case repeatedKey
    /// A key that equals another of its object as a `String`, in other bytes.
    case equalKeys
    /// A valid value of another kind.
    case mismatch
    /// The same for an element without a tag.
    case cellMismatch
    /// A number of the right kind that the type cannot hold.
    case unrepresentable
    /// More bytes of preludes than allowed.
    case tooManyDefinitions
    /// More levels of nesting than allowed.
    case tooDeep
    /// More levels than the stack has room for.
    case noRoom
    /// Relies on a context whose id several have.
    case ambiguous
  }

  package let kind: Kind
  /// The byte offset from the start of the message.
  package let offset: Int

  init(_ kind: Kind, at offset: Int) {
    self.kind = kind
    self.offset = offset
  }
}

/// Throws a `FormatError`.
///
/// Out of line, because the compiler calls a function in which an error of one type is thrown in line through its
/// conformance, even where the type is known.
@inline(never)
func fail(_ kind: FormatError.Kind, at offset: Int) throws(FormatError) -> Never {
  throw FormatError(kind, at: offset)
}
