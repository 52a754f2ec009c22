#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The options of Foundation's JSON coders that have no counterpart. They are here so that the compiler tells whoever sets
// one what to do instead.

extension StowEncoder {
  /// Not needed: dates are exact.
  @available(*, unavailable, message: "Delete this line: dates are encoded exactly.")
  public var dateEncodingStrategy: JSONEncoder.DateEncodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: data is encoded as it is.
  @available(*, unavailable, message: "Delete this line: data is encoded as its bytes.")
  public var dataEncodingStrategy: JSONEncoder.DataEncodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: NaN and the infinities are numbers like others.
  @available(*, unavailable, message: "Delete this line: NaN and the infinities are encoded as they are.")
  public var nonConformingFloatEncodingStrategy: JSONEncoder.NonConformingFloatEncodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: keys are encoded as the type names them.
  @available(*, unavailable, message: "Delete this line: keys are encoded as the type names them.")
  public var keyEncodingStrategy: JSONEncoder.KeyEncodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }
}

extension StowDecoder {
  /// Not needed: dates are exact.
  @available(*, unavailable, message: "Delete this line: dates are encoded exactly.")
  public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: data is encoded as it is.
  @available(*, unavailable, message: "Delete this line: data is encoded as its bytes.")
  public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: NaN and the infinities are numbers like others.
  @available(*, unavailable, message: "Delete this line: NaN and the infinities are encoded as they are.")
  public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }

  /// Not needed: keys are encoded as the type names them.
  @available(*, unavailable, message: "Delete this line: keys are encoded as the type names them.")
  public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy {
    get { fatalError() }
    set { fatalError() }
  }
}
