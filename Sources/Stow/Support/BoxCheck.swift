/// Whether the calls of a container arrive at the methods of a cursor that stands in for its box.
///
/// The tables of methods are equally long (`BoxClass`); here the first and the last of each group of methods are called.
/// The tests call all of them.
struct BoxCheck: Encodable {
  enum Key: CodingKey {
    case bool, wide, optionalBool, optionalWide, last
  }

  private struct Mismatch: Error {}

  private static let wide = UInt128.max - 1

  /// Whether the calls of an encoding container arrive.
  static func writes(_ boxTaker: BoxTaker) -> Bool {
    let session = EncodingSession(boxTaker: boxTaker)
    session.begin([], maximumDepth: DepthLimit.standard, SharedUserInfo())
    do {
      try session.encodePlain(BoxCheck(), key: 0, parent: -1)
    } catch {
      return false
    }
    let kinds = (0..<session.tape.count).map { session.tape[$0].kind }
    return kinds == [.object, .true, .wide, .true, .wide, .deferred, .end]
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    guard container.codingPath.isEmpty else { throw Mismatch() }
    try container.encode(true, forKey: .bool)
    try container.encode(Self.wide, forKey: .wide)
    try container.encodeIfPresent(true, forKey: .optionalBool)
    try container.encodeIfPresent(Self.wide, forKey: .optionalWide)
    _ = container.superEncoder(forKey: .last)
  }

  /// Whether the calls of a decoding container arrive.
  static func reads(_ boxTaker: BoxTaker) -> Bool {
    message.withUnsafeBytes { bytes in
      let session = DecodingSession(boxTaker: boxTaker)
      return withExtendedLifetime(session) { (try? reads(bytes, session)) ?? false }
    }
  }

  /// An object with values for all keys but the last.
  private static let message: [UInt8] = [
    0x71, 0x40, 0x04, 0x81, 0xe3, 0x2c, 0x02, 0x04, 0x16, 0x32, 0x10, 0x0d, 0xfe, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0c, 0xce, 0x33, 0x21, 0x4e, 0x03,
    0x2c, 0x9b, 0xe3, 0x2c, 0x02, 0x0c, 0xce, 0x33, 0x21, 0x4e, 0x03, 0x2c, 0x30, 0x32, 0x10, 0x0d, 0xfe,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  ]

  private static func reads(_ bytes: UnsafeRawBufferPointer, _ session: DecodingSession) throws -> Bool {
    let offset = try session.begin(bytes, maximumDepth: DepthLimit.standard, SharedUserInfo())
    let decoder = ValueDecoder(session: session, offset: offset, node: .top)
    let container = try decoder.container(keyedBy: Key.self)
    return try container.codingPath.isEmpty && container.contains(.wide) && !container.contains(.last)
      && container.decode(Bool.self, forKey: .bool) && container.decode(UInt128.self, forKey: .wide) == wide
      && container.decodeIfPresent(Bool.self, forKey: .optionalBool) == true
      && container.decodeIfPresent(UInt128.self, forKey: .optionalWide) == wide
      && container.superDecoder(forKey: .last).codingPath.count == 1
  }
}
