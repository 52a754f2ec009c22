/// A value whose coding calls every method of a keyed container, each with a value that another method for values of
/// the same size would take for another one.
struct BoxSample: Codable, Equatable {
  private var scalars = Scalars()
  private var optionals = Optionals()
  private var others = Others()

  private struct Scalars: Codable, Equatable {
    var bool = true
    var string = "text"
    var double = 0.1
    var float: Float = 0.2
    var int = -0x1234_5678_9ABC_DEF0
    var int8: Int8 = -0x12
    var int16: Int16 = -0x1234
    var int32: Int32 = -0x1234_5678
    var int64: Int64 = -0x2345_6789_ABCD_EF01
    var int128: Int128 = -0x1234_5678_9ABC_DEF0_1234
    var uint: UInt = 0xFEDC_BA98_7654_3210
    var uint8: UInt8 = 0xFE
    var uint16: UInt16 = 0xFEDC
    var uint32: UInt32 = 0xFEDC_BA98
    var uint64: UInt64 = 0xEDCB_A987_6543_210F
    var uint128: UInt128 = .max - 1
    var array = [1, 2]
  }

  private struct Optionals: Codable, Equatable {
    var bool: Bool? = true
    var string: String? = "text"
    var double: Double? = 0.1
    var float: Float? = 0.2
    var int: Int? = -0x1234_5678_9ABC_DEF0
    var int8: Int8? = -0x12
    var int16: Int16? = -0x1234
    var int32: Int32? = -0x1234_5678
    var int64: Int64? = -0x2345_6789_ABCD_EF01
    var int128: Int128? = -0x1234_5678_9ABC_DEF0_1234
    var uint: UInt? = 0xFEDC_BA98_7654_3210
    var uint8: UInt8? = 0xFE
    var uint16: UInt16? = 0xFEDC
    var uint32: UInt32? = 0xFEDC_BA98
    var uint64: UInt64? = 0xEDCB_A987_6543_210F
    var uint128: UInt128? = .max - 1
    var array: [Int]? = [1, 2]
    var none: Int?
  }

  /// Calls what synthesized coding does not.
  private struct Others: Codable, Equatable {
    private enum Key: CodingKey { case none, reference, object, array, parent, `super`, count }

    private final class Reference: Codable {}

    private struct Mismatch: Error {}

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      let object = try container.nestedContainer(keyedBy: Key.self, forKey: .object)
      var array = try container.nestedUnkeyedContainer(forKey: .array)
      guard container.allKeys == [.none, .reference, .object, .array, .parent, .super],
        container.contains(.none), !container.contains(.count), try container.decodeNil(forKey: .none),
        try object.decode(Int.self, forKey: .count) == object.codingPath.count,
        try array.decode(Int.self) == 1,
        try Int(from: container.superDecoder(forKey: .parent)) == 2,
        try Int(from: container.superDecoder()) == 3
      else { throw Mismatch() }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encodeNil(forKey: .none)
      try container.encodeConditional(Reference(), forKey: .reference)
      var object = container.nestedContainer(keyedBy: Key.self, forKey: .object)
      try object.encode(object.codingPath.count, forKey: .count)
      var array = container.nestedUnkeyedContainer(forKey: .array)
      try array.encode(1)
      try 2.encode(to: container.superEncoder(forKey: .parent))
      try 3.encode(to: container.superEncoder())
    }
  }
}

extension BoxTaker {
  /// Whether the sample gives the same bytes with this as without.
  func encodesSample() -> Bool {
    guard let bytes = Self.sample(boxTaker: self) else { return false }
    return bytes == Self.sample(boxTaker: nil)
  }

  /// Whether this reads the sample.
  func decodesSample() -> Bool {
    guard let bytes = Self.sample(boxTaker: nil) else { return false }
    return bytes.withUnsafeBytes { bytes in
      let session = DecodingSession(boxTaker: self)
      let sample = try? session.decode(
        BoxSample.self, at: session.begin(bytes, DecoderConfiguration()), DecodingPath.Step(.top, parent: .top))
      return sample == BoxSample()
    }
  }

  private static func sample(boxTaker: BoxTaker?) -> [UInt8]? {
    let session = EncodingSession(boxTaker: boxTaker)
    session.begin(EncoderConfiguration())
    return (try? session.record(BoxSample())).map { [UInt8](session.finish()) }
  }
}
