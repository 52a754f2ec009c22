import Stow
import Testing

/// Each method of a keyed container is called with a value that another method for values of the same size would take
/// for another one.
@Suite("Methods of keyed containers")
struct ContainerMethodTests {
  private struct Values: Codable, Equatable {
    var bool: Bool = true
    var string: String = "text"
    var double: Double = 0.1
    var float: Float = 0.2
    var int: Int = -0x1234_5678_9ABC_DEF0
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
    var list: [Int] = [1, 2]
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
    var list: [Int]? = [1, 2]
    var none: Int?
  }

  /// What synthesized coding does not call.
  private struct Others: Codable, Equatable {
    private enum Key: CodingKey { case none, reference, object, array, parent, `super`, count }

    private final class Reference: Codable {
      var number = 7
    }

    private(set) var results: [Int] = [0, 7, 1, 8, 9, 10]

    init() {}

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      let object = try container.nestedContainer(keyedBy: Key.self, forKey: .object)
      var array = try container.nestedUnkeyedContainer(forKey: .array)
      #expect(container.codingPath.isEmpty && object.codingPath.count == 1)
      #expect(Set(container.allKeys) == [.none, .reference, .object, .array, .parent, .super])
      #expect(container.contains(.none) && !container.contains(.count))
      #expect(try container.decodeNil(forKey: .none) && !container.decodeNil(forKey: .array))
      results = [
        container.codingPath.count, try container.decode(Reference.self, forKey: .reference).number,
        try object.decode(Int.self, forKey: .count), try array.decode(Int.self),
        try Int(from: container.superDecoder(forKey: .parent)), try Int(from: container.superDecoder()),
      ]
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encodeNil(forKey: .none)
      try container.encodeConditional(Reference(), forKey: .reference)
      var object = container.nestedContainer(keyedBy: Key.self, forKey: .object)
      try object.encode(object.codingPath.count, forKey: .count)
      var array = container.nestedUnkeyedContainer(forKey: .array)
      try array.encode(8)
      try 9.encode(to: container.superEncoder(forKey: .parent))
      try 10.encode(to: container.superEncoder())
    }
  }

  /// The bytes of `Values` and of `Optionals`: methods exchanged in the same way in both coders would undo each other.
  private static let message = """
    71 C2 04 81 E3 2C 02 46 72 46 D4 0C 34 74 65 78 74 46 C3 D1 B0 08 20 01 05 C5 E2 00 13 0F CD CC \
    4C 3E 43 A8 4D 0A 10 21 43 65 87 A9 CB ED 04 48 33 F1 03 EE 05 48 33 D5 3A 04 CC ED 05 48 33 DD \
    36 06 88 A9 CB ED 05 48 33 E9 38 0A FF 10 32 54 76 98 BA DC 06 48 33 D5 36 0F 0C CC ED 0F 21 43 \
    65 87 A9 CB ED FF FF FF FF FF FF 04 14 D2 4C 0B 10 32 54 76 98 BA DC FE 05 14 D2 4C 3C 04 FE 00 \
    06 14 D2 4C B5 0E 05 DC FE 00 06 14 D2 4C B7 0D 07 98 BA DC FE 00 06 14 D2 4C 3A 0E 0B 0F 21 43 \
    65 87 A9 CB ED 07 14 D2 4C B5 CD 03 0D FE FF FF FF FF FF FF FF FF FF FF FF FF FF FF FF 04 0B 22 \
    4D E2 91 92
    """

  @Test("all methods of keyed containers read and write their values, present or not")
  func methods() throws {
    let bytes = try VectorFile.bytes(Self.message)
    #expect(try StowEncoder().encode(Values()) == bytes)
    #expect(try StowEncoder().encode(Optionals()) == bytes)
    #expect(try StowDecoder().decode(Values.self, from: bytes) == Values())
    #expect(try StowDecoder().decode(Optionals.self, from: bytes) == Optionals())
    #expect(try StowDecoder().decode(Others.self, from: StowEncoder().encode(Others())) == Others())
  }
}
