import GRPCCore
import SwiftProtobuf

// What grpc-swift-protobuf does.

struct ProtobufSerializer<Message: SwiftProtobuf.Message>: MessageSerializer {
  func serialize<Bytes: GRPCContiguousBytes>(_ message: Message) throws -> Bytes {
    try (message.serializedBytes() as ProtobufBytes<Bytes>).bytes
  }
}

struct ProtobufDeserializer<Message: SwiftProtobuf.Message>: MessageDeserializer {
  func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Message {
    try Message(serializedBytes: ProtobufBytes(bytes: bytes))
  }
}

/// Bytes of the one package as those of the other.
struct ProtobufBytes<Bytes: GRPCContiguousBytes>: SwiftProtobufContiguousBytes {
  var bytes: Bytes

  init(bytes: Bytes) { self.bytes = bytes }
  init(repeating byte: UInt8, count: Int) { bytes = Bytes(repeating: byte, count: count) }
  init(_ sequence: some Sequence<UInt8>) { bytes = Bytes(sequence) }

  var count: Int { bytes.count }

  func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }

  mutating func withUnsafeMutableBytes<Result>(
    _ body: (UnsafeMutableRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeMutableBytes(body)
  }
}
