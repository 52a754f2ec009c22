import Foundation
import Stow
import Testing

/// Runs the examples of FORMAT.md, "Contexts": each is what the encoder writes, and decodes to the value it is of.
@Suite("The examples of contexts in FORMAT.md")
struct ContextExamplesTests {
  private struct Person: Codable, Equatable {
    var id: Int
    var name: String
    var on: Bool
    var note: String?
  }

  private struct Other: Codable, Equatable {
    var kind: String
    var other: [String]
  }

  private static func block(_ blocks: [FormatDocument.Block], _ name: String) throws -> Data {
    let block = try #require(blocks.first { $0.name == name })
    #expect(VectorFile.hex(block.explained) == VectorFile.hex(block.bytes), "the explanation of \(name)")
    return block.bytes
  }

  private static func context() throws -> StowContext {
    try StowContext(from: block(FormatDocument.load().contexts, "example"))
  }

  @Test("the tests cover all examples of contexts in FORMAT.md")
  func names() throws {
    #expect(try FormatDocument.load().contexts.map(\.name) == ["example"])
    #expect(try FormatDocument.load().relying.map(\.name) == ["example", "another-type"])
  }

  @Test("the example of a context has the documented message and id")
  func example() throws {
    let context = try Self.context()
    #expect(context.symbols == ["Ada"] && context.shapes == [["id", "name", "on", "note"]])
    #expect(context.id == 0x2789_4032)
    #expect(StowContext(symbols: context.symbols, shapes: context.shapes).data == context.data)
    #expect(try VectorFile.formatDocument().contains("the id 27894032"))
  }

  @Test("the examples of messages are what the encoder writes, and decode")
  func relying() throws {
    try expect(Person(id: 5, name: "Ada", on: true), is: "example")
    try expect([Other(kind: "alpha", other: ["alpha", "Ada"]), Other(kind: "alpha", other: [])], is: "another-type")
  }

  private func expect<Value: Codable & Equatable>(_ value: Value, is name: String) throws {
    let bytes = try Self.block(FormatDocument.load().relying, name)
    let context = try Self.context()
    #expect(VectorFile.hex(try StowEncoder(context).encode(value)) == VectorFile.hex(bytes))
    #expect(try StowDecoder([context]).decode(Value.self, from: bytes) == value)
  }
}
