/// Whether the calls of a container arrive at the methods of a cursor that stands in for its box.
///
/// The tables of methods are equally long (`BoxClass`); here the first and the last of each group of methods are called.
/// The tests call all of them.
struct BoxCheck: Encodable {
  /// Whether the call for a place of a later value is made, too.
  private let hasLast: Bool

  enum Key: CodingKey {
    case bool, wide, optionalBool, optionalWide, last
  }

  private struct Mismatch: Error {}

  private static let wide = UInt128.max - 1

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    guard container.codingPath.isEmpty else { throw Mismatch() }
    try container.encode(true, forKey: .bool)
    try container.encode(Self.wide, forKey: .wide)
    try container.encodeIfPresent(true, forKey: .optionalBool)
    try container.encodeIfPresent(Self.wide, forKey: .optionalWide)
    if hasLast { _ = container.superEncoder(forKey: .last) }
  }

  /// Whether the calls of an encoding container arrive.
  static func writes(_ boxTaker: BoxTaker) -> Bool {
    guard let session = record(boxTaker, hasLast: true) else { return false }
    let kinds = (0..<session.tape.count).map { session.tape[$0].kind }
    return kinds == [.object, .true, .wide, .true, .wide, .deferred, .end]
  }

  /// Whether the calls of a decoding container arrive.
  static func reads(_ boxTaker: BoxTaker) -> Bool {
    guard let message = record(nil, hasLast: false) else { return false }
    return message.finish().withUnsafeBytes { (try? reads($0, boxTaker)) ?? false }
  }

  private static func record(_ boxTaker: BoxTaker?, hasLast: Bool) -> EncodingSession? {
    let session = EncodingSession(boxTaker: boxTaker)
    session.begin(EncoderConfiguration())
    do {
      try session.encodePlain(BoxCheck(hasLast: hasLast), key: 0, parent: -1)
    } catch {
      return nil
    }
    return session
  }

  private static func reads(_ bytes: UnsafeRawBufferPointer, _ boxTaker: BoxTaker) throws -> Bool {
    let session = DecodingSession(boxTaker: boxTaker)
    let offset = try session.begin(bytes, DecoderConfiguration())
    let decoder = ValueDecoder(session: session, offset: offset, node: .top)
    let container = try decoder.container(keyedBy: Key.self)
    return try container.codingPath.isEmpty && container.contains(.wide) && !container.contains(.last)
      && container.decode(Bool.self, forKey: .bool) && container.decode(UInt128.self, forKey: .wide) == wide
      && container.decodeIfPresent(Bool.self, forKey: .optionalBool) == true
      && container.decodeIfPresent(UInt128.self, forKey: .optionalWide) == wide
      && container.superDecoder(forKey: .last).codingPath.count == 1
  }
}
