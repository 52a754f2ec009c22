/// A way to record the values of some generic type.
class AnyTypeEncoder {}

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

/// The types that have a type encoder: optionals, arrays, and dictionaries of strings.
protocol WholeEncodable {
  static func makeTypeEncoder() -> AnyTypeEncoder
}

typealias TypeEncoders = TypePlans<AnyTypeEncoder>

extension TypeEncoders {
  init() {
    self.init(
      ofScalar: { _ in nil }, ofGeneric: { ($0 as? any WholeEncodable.Type)?.makeTypeEncoder() })
  }
}
