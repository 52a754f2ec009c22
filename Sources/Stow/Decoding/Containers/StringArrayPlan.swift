/// Arrays of strings, without a plan and a step of the path for every element.
final class StringArrayPlan: ArrayDecodingPlan<String> {
  override func decode(
    at offset: Int, from session: DecodingSession, _ node: PathNode
  ) throws -> [String] {
    let elements: Range<Int>
    do throws(FormatError) { elements = try Arrays.read(session.message.reader, at: offset) } catch {
      // Arrays of another form hold no strings; the usual way reports that.
      return try super.decode(at: offset, from: session, node)
    }
    var result: [String] = []
    do throws(FormatError) {
      // As many as there may be in few bytes; others take more.
      result.reserveCapacity(min(elements.count, 8))
      var offset = elements.lowerBound
      let message = session.message
      let reader = message.reader
      while offset < elements.upperBound {
        if let bytes = Strings.withShortHeader(reader, at: offset) {
          result.append(try reader.string(at: bytes.start, count: bytes.count))
          offset = bytes.start &+ bytes.count
        } else {
          result.append(try String.read(message, at: offset, next: &offset))
        }
      }
      guard offset == elements.upperBound else { try fail(.malformed, at: offset) }
      return result
    } catch {
      let step = PathStep(.index, parent: node, value: result.count)
      throw session.error(error, path: session.codingPath(step, of: node), expected: String.self)
    }
  }
}
