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

/// The types that have a type encoder besides scalars: optionals, arrays, and dictionaries of strings.
protocol WholeEncodable {
  static func makeTypeEncoder() -> AnyTypeEncoder
}

typealias TypeEncoders = TypePlans<AnyTypeEncoder>

extension TypeEncoders {
  init() {
    self.init(
      ofScalar: { RecordableTypes.scalar($0)?.makeTypeEncoder() },
      ofGeneric: { ($0 as? any WholeEncodable.Type)?.makeTypeEncoder() })
  }
}
