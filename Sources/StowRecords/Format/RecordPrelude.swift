import Stow

/// The prelude of a record, in parts that can be put together with those of other records (Format/Logs.md, "Records of
/// one block").
struct RecordPrelude {
  /// What a record with a prelude begins with, and no other.
  static let tag: UInt8 = 0x1F

  var symbolCount = 0
  /// The texts of the symbols.
  var symbols: [UInt8] = []
  var shapeCount = 0
  /// The shapes, each with the number of its keys.
  var shapes: [UInt8] = []
  /// How many bytes it takes in the record.
  private(set) var size = 0

  init() {}

  /// The prelude that a record begins with, if there is one.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if it is not valid.
  init(of record: UnsafeRawBufferPointer) throws {
    size = try DecodingDefinitions.endOfPrelude(of: record)
    guard size > 0 else { return }
    let reader = ByteReader(record)
    var offset = 1
    symbolCount = try reader.varint(at: &offset)
    let firstSymbol = offset
    for _ in 0..<symbolCount { offset = try reader.text(at: offset).end }
    symbols = Array(record[firstSymbol..<offset])
    shapeCount = try reader.varint(at: &offset)
    shapes = Array(record[offset..<size])
  }
}
