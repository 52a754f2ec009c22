import Distributed
import Stow

/// What goes over a connection, in both directions: a record each.
enum Frame: Codable {
  /// The first one of each side.
  case hello(node: String)
  case call(number: Int, actor: String, target: String, arguments: Values)
  /// The result of a call; no values if it returns nothing.
  case result(number: Int, values: Values)
  case failure(number: Int, error: Polymorphic<any Error>)
}

/// Values of any types on their way out. What comes in are all `StowValue`, until it is known which types are expected.
struct Values: Codable {
  let values: [any Encodable]

  init(_ values: [any Encodable]) { self.values = values }

  init(from decoder: any Decoder) throws { values = try [StowValue](from: decoder) }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for value in values { try container.encode(value) }
  }

  var received: [StowValue] { values.compactMap { $0 as? StowValue } }
}

/// The coders of a system. Actors within values find the system in `userInfo`, and errors their types.
struct CallCoders: Sendable {
  let encoder = StowEncoder()
  let decoder = StowDecoder()

  init(_ errors: TypeRegistry) {
    var errors = errors
    errors.register(RemoteError.self, as: "remote error")
    encoder.types = errors
    decoder.types = errors
  }

  func decode<Value: Decodable>(_ type: Value.Type, from value: StowValue) throws -> Value {
    try StowEncoder().withEncoded(value) { try decoder.decode(type, from: $0) }
  }
}

/// The arguments of a call, as the compiler's code hands them over.
public struct CallEncoder: DistributedTargetInvocationEncoder {
  public typealias SerializationRequirement = Codable
  private(set) var arguments: [any Encodable] = []

  public mutating func recordArgument<Value: Codable>(_ argument: RemoteCallArgument<Value>) throws {
    arguments.append(argument.value)
  }

  /// Generic methods are not for peers, because those would choose types.
  public mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {
    throw RemoteError("A generic method cannot be called on a remote actor.")
  }

  public mutating func recordErrorType<E: Error>(_ type: E.Type) {}
  public mutating func recordReturnType<R: Codable>(_ type: R.Type) throws {}
  public mutating func doneRecording() {}
}

/// The arguments of a call, as the compiler's code asks for them.
public struct CallDecoder: DistributedTargetInvocationDecoder {
  public typealias SerializationRequirement = Codable
  private var arguments: ArraySlice<StowValue>
  private let coders: CallCoders

  init(_ arguments: [StowValue], _ coders: CallCoders) {
    self.arguments = arguments[...]
    self.coders = coders
  }

  public mutating func decodeNextArgument<Argument: Codable>() throws -> Argument {
    guard let argument = arguments.popFirst() else { throw RemoteError("An argument is missing.") }
    return try coders.decode(Argument.self, from: argument)
  }

  public mutating func decodeGenericSubstitutions() -> [any Any.Type] { [] }
  public mutating func decodeErrorType() -> (any Any.Type)? { nil }
  public mutating func decodeReturnType() -> (any Any.Type)? { nil }
}

/// Sends what came of a call.
public struct CallResultHandler: DistributedTargetInvocationResultHandler {
  public typealias SerializationRequirement = Codable
  let number: Int
  let connection: Connection

  public func onReturn<Success: Codable>(value: Success) async throws {
    send(.result(number: number, values: Values([value])))
  }

  public func onReturnVoid() { send(.result(number: number, values: Values([]))) }
  public func onThrow<Err: Error>(error: Err) { fail(error) }

  func fail(_ error: any Error) {
    send(.failure(number: number, error: Polymorphic(wrappedValue: error)))
  }

  /// Sends an answer. What cannot be encoded, as an error that has no name, is sent as a `RemoteError`.
  private func send(_ frame: Frame) {
    do {
      try connection.send(frame)
    } catch {
      var text = "\(error)"
      if case .failure(_, let failure) = frame { text = "\(failure.wrappedValue)" }
      let failure = Polymorphic<any Error>(wrappedValue: RemoteError(text))
      do {
        try connection.send(.failure(number: number, error: failure))
      } catch {
        connection.close()
      }
    }
  }
}
