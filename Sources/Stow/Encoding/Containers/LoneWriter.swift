#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The bytes of a message that is one small object, in which there are only scalars, written while they are recorded.
///
/// As long as the first object of a message asks for the predicted keys (`PredictedSlots.swift`) and has nothing but
/// scalars, each value is written as it comes, behind its key, and its strings stay here. If that is all of the message
/// there is nothing else to do: a small one encodes a seventh faster. Whatever settles the prediction ends this, and so
/// does a value that needs more than is here (`write` says which). Then the strings go to the pool, and the tape has the
/// values as always.
struct LoneWriter: ~Copyable {
  private var writer = ForwardWriter(capacity: 1024)
  /// Where the strings of the message are.
  private var texts = GrowableBuffer<Text>(capacity: 8)
  /// The bits of all of them.
  private var filter: UInt64 = 0
  /// Whether all that the message has so far has been written.
  private(set) var isWhole = false
  private let knowsSmallStrings = SmallString.isKnown

  /// The bytes left free for the header of the message, at most a tag and a length of two bytes.
  private static let headerSize = 3
  /// So many strings are compared one by one.
  private static let mostTexts = 8

  /// Where a string is.
  struct Text: BitwiseCopyable {
    fileprivate let start: Int
    fileprivate let count: Int
  }

  mutating func begin() {
    writer.restart(at: Self.headerSize)
    texts.truncate(to: 0)
    filter = 0
    isWhole = true
  }

  mutating func end() { isWhole = false }

  /// Writes a scalar; false if it is an integer beyond 64 bits with a sign or a NaN of a `Float`, its key is long, or
  /// there is no room.
  @inline(__always)
  mutating func write(_ value: some RecordableScalar, key: UnsafeRawBufferPointer) -> Bool {
    write(key: key) && value.write(to: &writer)
  }

  /// Writes a nil; false if its key is long or there is no room.
  mutating func writeNil(key: UnsafeRawBufferPointer) -> Bool {
    guard write(key: key) else { return false }
    writer.byte(Tag.null)
    return true
  }

  @inline(__always)
  private mutating func write(key: UnsafeRawBufferPointer) -> Bool {
    guard key.count <= ForwardWriter.shortLimit, let start = key.baseAddress, writer.hasRoom(for: key.count)
    else { return false }
    writer.shortBytes(start, count: key.count)
    return true
  }

  // MARK: strings

  /// Writes a string, and returns its number among those of the message; −1 if it or its key is long, it is not the
  /// first of its kind or there are many, or there is no room.
  @inline(__always)
  mutating func write(_ string: borrowing String, key: UnsafeRawBufferPointer) -> Int {
    guard texts.count < Self.mostTexts, write(key: key) else { return -1 }
    if knowsSmallStrings, let text = SmallString.characters(of: string) {
      writer.stringHeader(length: text.count)
      writer.text(TextKey(whole: (text.first, text.second), count: text.count))
      return add(length: text.count)
    }
    return string.utf8.withContiguousStorageIfAvailable { write(UnsafeRawBufferPointer($0)) } ?? -1
  }

  @inline(never)
  private mutating func write(_ utf8: UnsafeRawBufferPointer) -> Int {
    guard utf8.count < StringHeader.limit, writer.hasRoom(for: utf8.count + 2) else { return -1 }
    writer.stringHeader(length: utf8.count)
    writer.bytes(utf8)
    return add(length: utf8.count)
  }

  /// Takes in the string that was written last, if it is none of the others.
  @inline(__always)
  private mutating func add(length: Int) -> Int {
    let text = Text(start: writer.count &- length, count: length)
    let utf8 = bytes(of: text)
    for index in 0..<texts.count where equalBytes(bytes(of: texts[index]), utf8) { return -1 }
    filter |= StringPool.filterBit(utf8)
    texts.append(text)
    return texts.count &- 1
  }

  @inline(__always)
  private func bytes(of text: Text) -> UnsafeRawBufferPointer {
    writer.written(at: text.start, count: text.count)
  }

  /// Hands the strings to `body` in their order.
  func visitTexts(_ body: (UnsafeRawBufferPointer) -> Void) {
    for index in 0..<texts.count { body(bytes(of: texts[index])) }
  }

  // MARK: the message

  /// The message, whose only object has keys of this keyTable; nil if a string is one of them.
  mutating func finished(_ keyTable: KeyTable) -> Data? {
    if keyTable.mayHaveKey(filter), hasKey(of: keyTable) { return nil }
    let start = writer.putHeader(
      before: Self.headerSize, short: Tag.shortMap, limit: Tag.shortMapLimit, long: Tag.map)
    return Data.copy(writer.written(at: start, count: writer.count - start))
  }

  @inline(never)
  private func hasKey(of keyTable: KeyTable) -> Bool {
    var isKey = false
    visitTexts { isKey = isKey || keyTable.hasKey($0) }
    return isKey
  }
}

extension EncodingSession {
  /// The bytes of the message if all of it has been written.
  @inline(__always)
  func finishLone() -> Data? {
    guard lone.isWhole else { return nil }
    // Whatever else there may be has settled the prediction, and ended this. The rest rests on it, so it is looked at.
    if !needsNormalizing, !tape.hasInnerContainers, activeKeyTables.count == 1,
      let message = activeKeyTables.borrow(0, { lone.finished($0) })
    {
      wasLone = true
      return message
    }
    endLone()
    return nil
  }

  /// Records a string whose key is predicted if it can be written.
  @inline(__always)
  func recordWritten(_ value: borrowing String, key: UInt64, _ text: UnsafeRawBufferPointer) -> Bool {
    guard lone.isWhole else { return false }
    let number = lone.write(value, key: text)
    if number >= 0 { tape.append(Token(.string, key: key, index: number)) } else { endLone() }
    return number >= 0
  }

  /// Ends writing values as they come: their strings go to the pool, in which no others are, so that their numbers stay.
  @inline(never)
  func endLone() {
    guard lone.isWhole else { return }
    lone.end()
    assert(strings.count == 0)
    lone.visitTexts { utf8 in
      let index = strings.intern(utf8)
      strings.countValueUse(index)
    }
  }
}
