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
