import Foundation
import Stow
import Testing

/// Containers that outlive their message, which relied on a context or on symbols of its own.
@Suite("Decoding containers kept beyond a message in a context")
struct KeptContextTests {
  private struct Keeping: Decodable {
    let object: KeyedDecodingContainer<AnyKey>
    var list: any UnkeyedDecodingContainer

    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      object = try list.nestedContainer(keyedBy: AnyKey.self)
      self.list = list
    }
  }

  @Test("kept containers can be read after other messages, and after their coder is released")
  func contexts() throws {
    let long = String(repeating: "long ", count: 30)
    var kept: [Keeping] = []
    for number in 0..<4 {
      let context = try context(symbols: [long, "symbol \(number)"], shapes: [[long, "key \(number)"]])
      let value = [[long: "symbol \(number)", "key \(number)": long]]
      let sorted = StowEncoder(context, sorted: true)
      _ = try sorted.encode(value)
      let message = try StowEncoder(context).encode(value + value)
      kept.append(try StowDecoder([context]).decode(Keeping.self, from: message))
    }
    for (number, var kept) in kept.enumerated() {
      #expect(try kept.object.decode(String.self, forKey: AnyKey("key \(number)")) == long)
      #expect(try kept.object.decode(String.self, forKey: AnyKey(long)) == "symbol \(number)")
      #expect(Set(kept.object.allKeys.map(\.stringValue)) == [long, "key \(number)"])
      #expect(try kept.list.decode([String: String].self)[long] == "symbol \(number)")
    }
  }

  @Test("kept containers read no released bytes when they compare long symbols")
  func bytes() throws {
    let texts = ["first ", "second "].map { Array(String(repeating: $0, count: 20).utf8) }
    // Two symbols that are equal, and another; maps that have them as keys.
    let symbols = Bomb.text(texts[0]) + Bomb.text(texts[1]) + Bomb.text(texts[0])
    let message = [0x1F, 3] + symbols + [0, 0xEA, 0xC4, 0xC0, 0x91, 0xC1, 0x92, 0xC4, 0xC2, 0x93, 0xC1, 0x94]
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: message.count, alignment: 1)
    bytes.copyBytes(from: message)
    var kept = try StowDecoder().decode(Keeping.self, from: UnsafeRawBufferPointer(bytes))
    bytes.deallocate()
    let names = texts.map { String(decoding: $0, as: UTF8.self) }
    #expect(try kept.object.decode(Int.self, forKey: AnyKey(names[1])) == 2)
    #expect(try kept.object.decode(Int.self, forKey: AnyKey(names[0])) == 1)
    #expect(try kept.list.decode([String: Int].self) == [names[0]: 3, names[1]: 4])
  }
}
