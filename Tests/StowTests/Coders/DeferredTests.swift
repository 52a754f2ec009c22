import Foundation
import Stow
import Testing

@Suite("Deferred values")
struct DeferredTests {
  private struct Order: Codable, Equatable {
    var customer: String
    var items: [String]

    static let sample = Order(customer: "Ada", items: ["gauge", "gauge", "rope", "gauge"])
  }

  /// Cannot be decoded.
  private struct Trap: Codable {
    struct WasDecoded: Error {}

    init() {}
    init(from decoder: any Decoder) throws { throw WasDecoded() }
    func encode(to encoder: any Encoder) throws { try "a trap".encode(to: encoder) }
  }

  private struct Envelope<Payload: Codable>: Codable {
    var topic: String
    var payload: Deferred<Payload>
    var next: Deferred<Payload>?
    var others: [Deferred<Payload>] = []
  }

  private static func envelope() throws -> Envelope<Order> {
    let payload = try Deferred(Order.sample)
    return Envelope(topic: "orders", payload: payload, next: payload, others: [payload, payload])
  }

  @Test("deferred values survive a round trip by any coder")
  func roundTrip() throws {
    for coder in coders(.shapes) {
      let copy = try coder.decode(Envelope<Order>.self, from: coder.encode(Self.envelope()))
      for payload in [copy.payload, copy.next, copy.others.last] as [Deferred<Order>?] {
        #expect(try payload?.value() == Order.sample)
      }
      #expect(copy.others.count == 2 && copy.topic == "orders")
    }
  }

  @Test("deferred values are not decoded when passed on, and keep their bytes")
  func passedOn() throws {
    let trap = Envelope(topic: "t", payload: try Deferred(Trap()))
    let sent = try StowEncoder().encode(trap)
    let passed = try StowDecoder().decode(Envelope<Trap>.self, from: sent)
    #expect(try StowEncoder().encode(passed) == sent)
    #expect(passed.payload == trap.payload)
    #expect(throws: Trap.WasDecoded.self) { try passed.payload.value() }
    // In a message that has other keys and strings, too.
    let others = try StowEncoder().encode([passed, passed])
    let again = try StowDecoder().decode([Envelope<Trap>].self, from: others)
    #expect(again.map(\.payload) == [trap.payload, trap.payload])
  }

  /// Forwards to another decoder, as one that logs does: either hands out its containers, or wraps all that these
  /// decode.
  private struct Forwarding: Decoder {
    let base: any Decoder
    let wraps: Bool
    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
      try base.container(keyedBy: type)
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try base.unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
      try wraps ? Single(base: self) : base.singleValueContainer()
    }

    struct Single: SingleValueDecodingContainer {
      let base: Forwarding
      var codingPath: [any CodingKey] { base.codingPath }
      func decodeNil() -> Bool { (try? base.base.singleValueContainer().decodeNil()) ?? false }
      func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try Value(from: base) }
    }
  }

  /// The same for encoders.
  private struct ForwardingEncoder: Encoder {
    let base: any Encoder
    let wraps: Bool
    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      base.container(keyedBy: type)
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { base.unkeyedContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer {
      wraps ? Single(base: self) : base.singleValueContainer()
    }

    struct Single: SingleValueEncodingContainer {
      let base: ForwardingEncoder
      var codingPath: [any CodingKey] { base.codingPath }
      mutating func encodeNil() throws {
        var container = base.base.singleValueContainer()
        try container.encodeNil()
      }
      mutating func encode<Value: Encodable>(_ value: Value) throws { try value.encode(to: base) }
    }
  }

  /// Is coded by forwarding coders.
  private struct Forwarded<Value: Codable>: Codable {
    let value: Deferred<Value>
    static var wraps: CodingUserInfoKey { CodingUserInfoKey(rawValue: "wraps")! }

    init(_ value: Deferred<Value>) { self.value = value }

    init(from decoder: any Decoder) throws {
      let wraps = decoder.userInfo[Self.wraps] as? Bool == true
      value = try Deferred(from: Forwarding(base: decoder, wraps: wraps))
    }

    func encode(to encoder: any Encoder) throws {
      let wraps = encoder.userInfo[Self.wraps] as? Bool == true
      try value.encode(to: ForwardingEncoder(base: encoder, wraps: wraps))
    }
  }

  @Test("deferred values are the same through coders that forward to Stow's", arguments: [false, true])
  func forwarding(wraps: Bool) throws {
    func check<Value: Codable & Equatable>(_ value: Value) throws {
      let (encoder, decoder) = (StowEncoder(), StowDecoder())
      encoder.userInfo = [Forwarded<Value>.wraps: wraps]
      decoder.userInfo = encoder.userInfo
      let deferred = try Deferred(value)
      let plain = try encoder.encode([deferred])
      let read = try decoder.decode([Forwarded<Value>].self, from: plain)
      #expect(read.map(\.value) == [deferred])
      let written = try encoder.encode([Forwarded(deferred)])
      #expect(try decoder.decode([Forwarded<Value>].self, from: written).first?.value == deferred)
      if !wraps { #expect(written == plain) }
      // An array of bytes is an error where data is wanted.
      #expect((try? decoder.decode([Deferred<Value>].self, from: written)) ?? [deferred] == [deferred])
    }
    try check([1, 2, 300])
    try check([UInt8(1), 2])
    try check("text")
    try check(Order.sample)
    #expect(StowDecoder().userInfo.isEmpty && StowEncoder().userInfo.isEmpty)
  }

  @Test("deferred values of unknown types are passed on")
  func unknown() throws {
    let sent = try StowEncoder().encode(Self.envelope())
    let passed = try StowDecoder().decode(Envelope<StowValue>.self, from: sent)
    #expect(try StowEncoder().encode(passed) == sent)
    #expect(try passed.payload.value()["customer"] == "Ada")
    #expect(try StowMessage(from: passed.payload.message).decode(String.self, at: ["items", 2]) == "rope")
  }

  @Test("deferred values can use a context that only the first and last coder have")
  func context() throws {
    let coder = StowCoder()
    let context = try StowContext(learningFrom: [Order.sample])
    coder.encoder.context = context
    coder.decoder.contexts = [context]
    let payload = try Deferred(Order.sample, encoder: coder.encoder)
    #expect(try payload.message.count < Deferred(Order.sample).message.count)
    let sent = try StowEncoder().encode(Envelope(topic: "orders", payload: payload))
    let passed = try StowDecoder().decode(Envelope<Order>.self, from: sent)
    #expect(try passed.payload.value(decoder: coder.decoder) == Order.sample)
    #expect(throws: DecodingError.self) { try passed.payload.value() }
    #expect(throws: DecodingError.self) { try JSONEncoder().encode(passed) }
  }

  @Test("deferred values of registered types survive a round trip by any coder, even nested")
  func polymorphic() throws {
    struct Drawing: Codable { @Polymorphic var shape: any Shape }
    let encoder = StowEncoder()
    encoder.types = .shapes
    let inner = try Deferred(Drawing(shape: Circle(radius: 2)), encoder: encoder)
    let outer = try Deferred(inner)
    for coder in coders(.shapes) {
      let copy = try coder.decode(Deferred<Deferred<Drawing>>.self, from: coder.encode(outer))
      let drawing = try copy.value().value(decoder: StowCoder(types: .shapes).decoder)
      #expect(drawing.shape as? Circle == Circle(radius: 2))
    }
  }

  @Test("other coders encode the value itself, and Stow encodes its message")
  func form() throws {
    let json = JSONEncoder()
    json.outputFormatting = .sortedKeys
    #expect(try json.encode(Deferred(["a": 1])) == Data(#"{"a":1}"#.utf8))
    #expect(try JSONDecoder().decode(Deferred<[String: Int]>.self, from: Data(#"{"a":1}"#.utf8)).value() == ["a": 1])
    let date = Date(timeIntervalSince1970: 5)
    json.dateEncodingStrategy = .secondsSince1970
    #expect(try json.encode([Deferred(date)]) == Data("[5]".utf8))
    let payload = try Deferred(7)
    #expect(try StowValue(encoding: payload) == .data(payload.message))
  }

  @Test("deferred values that a message lacks come from the template")
  func template() throws {
    let template = try Self.envelope()
    let message = try StowEncoder().encode(["topic": "other"])
    let merged = try StowDecoder().decode(Envelope<Order>.self, from: message, defaults: template)
    #expect(merged.topic == "other" && merged.payload == template.payload)
    let sent = try StowEncoder().encode(template)
    let copy = try StowDecoder().decode(Envelope<Order>.self, from: sent, defaults: template)
    #expect(copy.payload == template.payload && copy.others == template.others)
  }

  @Test("reading a deferred value that is not a message is an error, with the path within the value")
  func broken() throws {
    let message = try Deferred(Order.sample).message
    for bytes in [Data(), message.dropLast(), message + [0], Data("{}".utf8)] {
      let payload = Deferred<Order>(message: Data(bytes))
      let sent = try StowEncoder().encode(Envelope(topic: "t", payload: payload))
      let copy = try StowDecoder().decode(Envelope<Order>.self, from: sent)
      #expect(throws: DecodingError.self) { try copy.payload.value() }
      #expect(throws: DecodingError.self) { try JSONEncoder().encode(copy) }
    }
    let wrong = Deferred<Order>(message: try StowEncoder().encode(["customer": "Ada"]))
    #expect { try wrong.value() } throws: { error in
      guard case DecodingError.keyNotFound(let key, let context) = error else { return false }
      return key.stringValue == "items" && context.codingPath.isEmpty
    }
  }

  @Test("decoding a deferred value fails if the value is not a message or is missing")
  func mismatches() throws {
    struct OnlyPayload: Codable { var payload: Deferred<Order> }
    // The bytes of a message in an array are no message, although they can be read as data.
    let bytes = [UInt8](try StowEncoder().encode(Order.sample))
    for plain in [
      try StowEncoder().encode(["payload": Order.sample]), try StowEncoder().encode(["payload": bytes]),
    ] {
      #expect {
        try StowDecoder().decode(OnlyPayload.self, from: plain)
      } throws: { error in
        guard case DecodingError.typeMismatch(_, let context) = error else { return false }
        return context.codingPath.map(\.stringValue) == ["payload"]
      }
    }
    let empty = try StowEncoder().encode([String: Int]())
    #expect(throws: DecodingError.self) { try StowDecoder().decode(OnlyPayload.self, from: empty) }
  }

  @Test("deferred values nested in each other 2,000 deep are decoded one at a time")
  func deep() throws {
    final class Node: Codable {
      var inner: Deferred<Node>?
      init(_ inner: Deferred<Node>?) { self.inner = inner }
    }
    var node = Node(nil)
    for _ in 0..<2000 { node = Node(try Deferred(node)) }
    var copy = try StowDecoder().decode(Node.self, from: StowEncoder().encode(node))
    var count = 0
    while let inner = copy.inner {
      copy = try inner.value()
      count += 1
    }
    #expect(count == 2000)
  }
}
