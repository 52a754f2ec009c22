extension Unmanaged {
  /// Lends the object, which somebody else keeps, without counting a reference.
  @inline(__always)
  func borrow<Result, Failure: Error>(
    _ body: (Instance) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var failure: Failure?
    let result: Result? = _withUnsafeGuaranteedRef { object in
      do throws(Failure) {
        return try body(object)
      } catch {
        failure = error
        return nil
      }
    }
    if let failure { throw failure }
    return result.unsafelyUnwrapped
  }
}

/// Passes the pointee where it is: reading a copyable one copies it first.
@inline(__always)
func borrowing<Pointee: ~Copyable, Failure: Error>(
  _ pointer: UnsafePointer<Pointee>, _ body: (borrowing Pointee) throws(Failure) -> Void
) throws(Failure) {
  try body(pointer.pointee)
}

/// Passes what an optional holds where it is, and says whether there was anything.
///
/// Taking a copyable one out copies it, for which the metadata of the optional is looked up.
@inline(__always)
func borrowingSome<Wrapped: ~Copyable, Failure: Error>(
  _ optional: borrowing Wrapped?, _ body: (borrowing Wrapped) throws(Failure) -> Void
) throws(Failure) -> Bool {
  switch optional {
  case .some(let value):
    try body(value)
    return true
  case .none: return false
  }
}

/// Passes the elements of an array where they are.
///
/// `withUnsafeBufferPointer` is not in line where their type is not known. The array lives while it is borrowed, and its
/// elements with it.
@inline(__always)
func borrowingElements<Element, Failure: Error>(
  of array: borrowing [Element], _ body: (UnsafeBufferPointer<Element>) throws(Failure) -> Void
) throws(Failure) {
  if let first = array._baseAddressIfContiguous {
    try body(UnsafeBufferPointer(start: first, count: array.count))
  } else {
    try array.withUnsafeBufferPointer(body)
  }
}
