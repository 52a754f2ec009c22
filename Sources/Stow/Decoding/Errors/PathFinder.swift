/// Finds the coding path of a place in the message by walking down to it from the top.
///
/// Decoding knows its path as a stack; a container or decoder that outlived the `init(from:)` it was made
/// for has lost its place there. Only then, and only if it is asked, is this done.
struct PathFinder {
  let message: Message

  /// Returns the path of the value or the container whose bytes hold `offset`: of the value that begins there, or
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
      if let object = try ObjectHeader.read(message.reader, at: value) {
        return try child(of: object, holding: offset)
      }
      guard let elements = try? Arrays.read(message.reader, at: value) else {
        return row(of: value, holding: offset)
      }
      var start = elements.lowerBound
      var index = 0
      while start < elements.upperBound {
        let end = try message.reader.end(of: start)
        if (start..<end).contains(offset) { return (start, PathKey.index(index)) }
        start = end
        index += 1
      }
      return nil
    } catch {
      return nil
    }
  }

  /// Returns the row of a table or a matrix that holds `offset`, which is no value of its own.
  private func row(of value: Int, holding offset: Int) -> (Int, any CodingKey)? {
    guard let columns = try? columns(at: value), columns.rows.contains(offset) else {
      return nil
    }
    let index = (offset - columns.rows.lowerBound) / columns.stride
    return (columns.rows.lowerBound + index * columns.stride, PathKey.index(index))
  }

  private func columns(at offset: Int) throws(FormatError) -> Columns? {
    let tag = try message.reader.byte(at: offset)
    guard Columns.isColumns(tag) else { return nil }
    return try Columns(message.reader, tables: message.tables, at: offset)
  }

  private func child(of object: ObjectHeader, holding offset: Int) throws(FormatError) -> (
    Int, any CodingKey
  )? {
    var start = object.body.lowerBound
    var keyIndex = 0
    var keyCount = 0
    if let shape = object.shape {
      // What is looked at here may be what could not be read.
      guard shape < message.tables.shapeCount else { return nil }
      keyCount = message.tables.keyCount(ofShape: shape)
    }
    if object.isPartial {
      start = try Records.endOfPresence(message.reader, in: object.body, keyCount: keyCount)
    }
    while start < object.body.upperBound {
      var key = TextLocation(start)
      if let shape = object.shape {
        if object.isPartial {
          while keyIndex < keyCount, !message.reader.bit(keyIndex, at: object.body.lowerBound) {
            keyIndex += 1
          }
        }
        guard keyIndex < keyCount else { return nil }
        key = message.tables.key(keyIndex, ofShape: shape)
        keyIndex += 1
      } else {
        start = try message.tables.endOfKey(message.reader, at: start)
      }
      let end = try message.reader.end(of: start)
      if (start..<end).contains(offset) {
        return (start, PathKey(stringValue: try message.keyString(at: key)))
      }
      start = end
    }
    return nil
  }
}
