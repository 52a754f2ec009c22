/// A way to record the values of one generic type, without knowing its parameters where it is called.
///
/// The caller knows only `Value`, and calls what the object's class has. No metadata is looked up for that.
class TypeEncoder<Value>: AnyTypeEncoder {
  /// Records a value.
  ///
  /// - Parameter level: How many optionals stand around the value that a nil would be taken for.
  func encode(
    _ value: borrowing Value, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) throws {
    preconditionFailure("a type encoder without a way to encode")
  }
}

/// Records values of a type that is recorded without its own `encode(to:)`.
final class ScalarTypeEncoder<Value: RecordableScalar>: TypeEncoder<Value> {
  override func encode(
    _ value: borrowing Value, into recorder: Recorder, key: TokenKey, parent: Int, level: Int
  ) {
    value.record(in: &recorder.recording, key: key)
  }
}

/// The types that have a type encoder besides scalars and `StowValue`: optionals, arrays, and dictionaries of strings.
protocol WholeEncodable {
  static func makeTypeEncoder() -> AnyTypeEncoder
}

typealias TypeEncoders = TypePlans<AnyTypeEncoder>

extension TypeEncoders {
  init() {
    self.init(ofScalar: Self.encoder(ofUngeneric:), ofGeneric: Self.encoder(ofGeneric:))
  }

  /// The type encoder of a scalar or of `StowValue`; nil for other types.
  static func encoder(ofUngeneric type: Any.Type) -> AnyTypeEncoder? {
    RecordableTypes.scalar(type)?.makeTypeEncoder()
      ?? (type == StowValue.self ? encoder(ofGeneric: type) : nil)
  }

  static func encoder(ofGeneric type: Any.Type) -> AnyTypeEncoder? {
    (type as? any WholeEncodable.Type)?.makeTypeEncoder()
  }
}
