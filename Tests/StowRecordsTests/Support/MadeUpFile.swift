import Stow

@testable import StowRecords

/// The bytes of a log that somebody made up, with checksums that are right.
struct MadeUpFile {
  typealias Content = (kind: Frame.Kind, number: Int, content: [UInt8])

  static let identity: UInt64 = 7

  private(set) var bytes: [UInt8] = []
  /// Where each frame begins.
  private(set) var frameStarts: [Int] = []

  /// Blocks of a head and frames, each filled up with zeros but the last.
  init(_ blocks: (first: Int, frames: [Content])...) { self.init(blocks) }

  init(_ blocks: [(first: Int, frames: [Content])]) {
    for (index, block) in blocks.enumerated() {
      bytes += [UInt8](repeating: 0, count: index * BlockHead.blockSize - bytes.count)
      bytes += BlockHead(identity: Self.identity, firstRecord: block.first, index: index).bytes
      for frame in block.frames { append(frame) }
    }
  }

  mutating func append(_ frame: Content) {
    frameStarts.append(bytes.count)
    bytes += Self.frame(frame, at: bytes.count)
  }

  /// Appends bytes that are no frame.
  mutating func append(damage: [UInt8]) { bytes += damage }

  static func frame(_ frame: Content, at offset: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Frame.headSize)
    if frame.kind != .origin { Varint.append(frame.number, to: &bytes) }
    bytes += frame.content
    Frame.seal(&bytes, from: 0, frame.kind, at: offset, identity: identity)
    return bytes
  }

  /// The first part of a record of a size.
  static func first(_ number: Int, size: Int, _ part: [UInt8]) -> Content {
    var length: [UInt8] = []
    Varint.append(size, to: &length)
    return firstOfGroup(number, count: 1, size: length.count + min(size, .max - 9), length + part)
  }

  /// The first part of a group of records that have so many bytes, lengths included.
  static func firstOfGroup(_ number: Int, count: Int, size: Int, _ part: [UInt8]) -> Content {
    var content: [UInt8] = []
    Varint.append(count, to: &content)
    Varint.append(size, to: &content)
    return (.first, number, content + part)
  }
}
