/// Finds the coding path of a place in the message by walking down to it from the top.
///
/// Decoding knows its path as a stack; a container or decoder that outlived the `init(from:)` it was made
/// for has lost its place there. Only then, and only if it is asked, is this done.
struct PathFinder {
  let session: DecodingSession

  /// The path of the value or the container whose bytes hold `offset`: of the value that begins there, or
  /// of the innermost container around it.
  func path(to offset: Int, from body: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var value = body
    while value != offset, let (child, key) = child(of: value, holding: offset) {
      path.append(key)
      value = child
    }
    return path
  }

  private func child(of value: Int, holding offset: Int) -> (Int, any CodingKey)? {
    do throws(FormatError) {
      if let object = try session.reader.object(at: value) { return try child(of: object, holding: offset) }
      guard let elements = try? session.reader.array(at: value) else {
        return row(of: value, holding: offset)
      }
      var start = elements.lowerBound
      var index = 0
      while start < elements.upperBound {
        let end = try session.reader.end(of: start)
        if (start..<end).contains(offset) { return (start, PathKey.index(index)) }
        start = end
        index += 1
      }
      return nil
    } catch {
      return nil
    }
  }

  /// A row of a table or a matrix, which is no value of its own.
  private func row(of value: Int, holding offset: Int) -> (Int, any CodingKey)? {
    guard let columns = (try? ElementSource.at(value, session))?.columns, columns.rows.contains(offset) else {
      return nil
    }
    let index = (offset - columns.rows.lowerBound) / columns.stride
    return (columns.rows.lowerBound + index * columns.stride, PathKey.index(index))
  }

  private func child(of object: ObjectHeader, holding offset: Int) throws(FormatError) -> (
    Int, any CodingKey
  )? {
    var start = object.body.lowerBound
    var slot = 0
    let keyCount = object.shape.map { session.tables.keyCount(ofShape: $0) } ?? 0
    if object.isPartial { start += (keyCount + 7) / 8 }
    while start < object.body.upperBound {
      var key = start
      if let shape = object.shape {
        if object.isPartial {
          while slot < keyCount, !session.reader.bit(slot, at: object.body.lowerBound) { slot += 1 }
        }
        guard slot < keyCount else { return nil }
        key = session.tables.key(slot, ofShape: shape)
        slot += 1
      } else {
        start = try session.tables.endOfKey(session.reader, at: key)
      }
      let end = try session.reader.end(of: start)
      if (start..<end).contains(offset) { return (start, PathKey(stringValue: try session.keyName(at: key))) }
      start = end
    }
    return nil
  }
}
