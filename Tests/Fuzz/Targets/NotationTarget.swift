import Stow
import StowNotation

/// Reads a text in diagnostic notation: what it says can be written, as a message and as other texts, and read again.
enum NotationTarget {
  static func run(_ bytes: UnsafeRawBufferPointer) throws {
    let text = String(decoding: bytes, as: UTF8.self)
    let value: StowValue
    do { value = try StowValue(notation: text) } catch {
      let lines = 1 + text.utf8.count(where: { $0 == UInt8(ascii: "\n") })
      guard (1...lines).contains(error.line), error.column >= 1 else { throw Finding("\(error) of \(text)") }
      return
    }
    let message = try value.encoded()
    guard try StowValue(from: message) == value else { throw Finding("\(value) is another when it is decoded") }
    for other in [value.description, value.notation(width: 20)] {
      let read = try StowValue(notation: other)
      guard read == value, try read.encoded() == message else { throw Finding("\(text) is written as \(other)") }
    }
  }
}
