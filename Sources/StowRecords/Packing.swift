extension RecordLog {
  /// Whether the texts of records are packed when they are appended.
  ///
  /// Any log can be read, and appended to with or without packing: each record says whether it is packed.
  ///
  /// ```swift
  /// let log = try RecordLog(at: url, packing: .words)
  /// ```
  ///
  /// Later versions may add cases, so a `switch` over them has a `default`.
  public enum Packing: Sendable, Hashable {
    /// Records are written as they are encoded.
    case none
    /// Words that also occur in the first records of a block are written as references to them. Logs with
    /// much text become smaller, and appending takes longer.
    case words
  }
}
