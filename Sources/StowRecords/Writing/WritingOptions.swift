/// What was chosen for a log that is written.
struct WritingOptions: Sendable {
  /// The most bytes that an encoded record may have.
  var maximumRecordSize = 1 << 30
  var packing = RecordLog.Packing.none
}
