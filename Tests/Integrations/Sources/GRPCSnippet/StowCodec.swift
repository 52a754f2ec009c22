import GRPCCore
import Stow

/// Writes messages of gRPC as messages of Stow.
struct StowSerializer<Message: Encodable>: MessageSerializer {
  var encoder = StowEncoder()

  func serialize<Bytes: GRPCContiguousBytes>(_ message: Message) throws -> Bytes {
    do {
      return try encoder.withEncoded(message) { Bytes($0) }
    } catch {
      throw RPCError(code: .internalError, message: "\(error)", cause: error)
    }
  }
}

/// Reads messages of gRPC that are messages of Stow. One that is broken ends the call with a status.
struct StowDeserializer<Message: Decodable>: MessageDeserializer {
  var decoder = StowDecoder()
  /// The status, on a server. That of a client is `internalError` by custom.
  var code = RPCError.Code.invalidArgument

  func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) throws -> Message {
    do {
      return try bytes.withUnsafeBytes { try decoder.decode(Message.self, from: $0) }
    } catch {
      throw RPCError(code: code, message: "\(error)", cause: error)
    }
  }
}
