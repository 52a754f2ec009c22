/// The prelude of a record, in parts that can be put together with those of other records (FORMAT.md, "Records of one
/// block").
package struct RecordPrelude {
  /// What a record with a prelude begins with, and no other.
  package static let tag: UInt8 = 0x1F

  package var symbolCount = 0
  /// The texts of the symbols.
  package var symbols: [UInt8] = []
  package var shapeCount = 0
  /// The shapes, each with the number of its keys.
  package var shapes: [UInt8] = []
  /// How many bytes it takes in the record.
  package private(set) var size = 0

  /// No prelude.
  package init() {}

  /// The prelude that a record begins with, if there is one.
  init(_ reader: ByteReader) throws(FormatError) {
    guard try reader.byte(at: 0) == MessageTables.tag else { return }
    var tables = TextTables()
    // Which symbols there are before those of the record is not known here.
    size = try tables.read(reader, at: 0, firstSymbol: Int.max / 2)
    var offset = 1
    symbolCount = try reader.varint(at: &offset)
    let firstSymbol = offset
    for _ in 0..<symbolCount { offset = try reader.endOfText(at: offset) }
    symbols = [UInt8](reader.buffer(at: firstSymbol, count: offset - firstSymbol))
    shapeCount = try reader.varint(at: &offset)
    shapes = [UInt8](reader.buffer(at: offset, count: size - offset))
  }
}
