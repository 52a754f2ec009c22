/// Arrays of `Double`: packed ones, and the rows of a matrix, are read at once.
final class DoubleArrayPlan: ArrayDecodingPlan<Double> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [Double] {
    do throws(FormatError) {
      if PackedArray.isPacked(try session.message.reader.byte(at: offset)) {
        let packed = try PackedArray(session.message.reader, at: offset)
        if let result = read(packed, session.message.reader) { return result }
      }
    } catch {
      throw session.error(error, at: node, expected: [Double].self)
    }
    return try super.decode(at: offset, from: session, node)
  }

  /// Reads packed elements; nil if one is no floating-point number, which decoding them one by one will convert.
  private func read(_ packed: PackedArray, _ reader: ByteReader) -> [Double]? {
    guard packed.stride > 0 else { return nil }
    var isComplete = true
    let result = [Double].filled(count: packed.count) { target, initialized in
      do throws(FormatError) {
        try packed.readDoubles(reader, into: target)
        initialized = packed.count
      } catch {
        isComplete = false
      }
    }
    return isComplete ? result : nil
  }

  override func array(row: Int, of source: SessionElements, _ node: PathNode) throws -> [Double] {
    guard let columns = source.columns?.columns else { return [] }
    let reader = source.session.message.reader
    var isComplete = true
    let result = [Double].filled(count: columns.count) { target, initialized in
      for index in columns.indices {
        let column = columns[index]
        guard column.type != ElementType.constant else {
          isComplete = false
          return
        }
        do throws(FormatError) {
          target[index] = try Cell.readDouble(reader, at: row &+ Int(column.offset), type: column.type)
        } catch {
          isComplete = false
          return
        }
        initialized = index &+ 1
      }
    }
    return isComplete ? result : try super.array(row: row, of: source, node)
  }
}
