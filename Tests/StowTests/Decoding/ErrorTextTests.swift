import Foundation
import Stow
import Testing

@Suite("The texts of decoding errors")
struct ErrorTextTests {
  /// The description of the error, which is to have the case that JSON's has.
  private func text<Value: Decodable>(_ type: Value.Type, _ bytes: Data) -> String {
    do {
      _ = try StowDecoder().decode(type, from: bytes)
      return "no error"
    } catch DecodingError.dataCorrupted(let context) {
      return context.debugDescription
    } catch DecodingError.valueNotFound(_, let context) {
      return "nothing: " + context.debugDescription
    } catch {
      return "\(error)"
    }
  }

  @Test("the error for bytes that are not a message says what they look like")
  func otherBytes() throws {
    let others: [(Data, String)] = [
      (Data(#"{"name": "Ada"}"#.utf8), "JSON"), (Data("\n[1, 2, 3]".utf8), "JSON"), (Data("{}".utf8), "JSON"),
      (try JSONEncoder().encode(["name": "Ada"]), "JSON"),
      (try PropertyListEncoder().encode(["name": "Ada"]), "a binary property list"),
      (Data([0x1F, 0x8B, 8, 0, 0, 0]), "a gzip file"),
      (Data([0xD9, 0xD9, 0xF7, 0xA0]), "CBOR"),
      (Data("<!DOCTYPE html>\n<title>502 Bad Gateway</title>".utf8), "HTML"),
      (Data("<!doctype html><title>502</title>".utf8), "HTML"),
      (Data("<html>\n<head><title>502 Bad Gateway</title></head>".utf8), "HTML"),
    ]
    for (bytes, name) in others {
      let text = text([String: String].self, bytes)
      #expect(text.hasPrefix("Expected a message, but "))
      #expect(text.hasSuffix("; these bytes look like \(name)"))
    }
    let message = try StowEncoder().encode(["name": "Ada", "city": "London"])
    for count in message.indices.dropFirst() {
      #expect(!text([String: String].self, message.prefix(count)).contains("look like"))
    }
  }

  @Test(
    "JSON that is as long as the message it resembles is reported as JSON",
    arguments: [
      #"{"name": "Ada", "city": "London SW"}"#, #"{"name": "Ada", "city": "Londons"}"# + "\n\n",
    ])
  func jsonOfFittingLength(_ json: String) {
    let text = text(Int.self, Data(json.utf8))
    #expect(text.contains("but found an array at offset 0; these bytes look like JSON"), "\(text)")
  }

  @Test("errors name the requested type, even Data, which is also read from arrays of bytes")
  func data() throws {
    for other in [StowValue.string("text"), 1, true, .double(0.5), ["key": 1]] {
      let message = try StowEncoder().encode(other)
      #expect(throws: DecodingError.self) { try StowDecoder().decode(Data.self, from: message) }
      #expect(text(Data.self, message).contains("Expected a value of type Data, but found "))
    }
  }

  @Test("the error for empty input says that there are no bytes")
  func noBytes() { #expect(text(Int.self, Data()) == "Expected a message, but there are no bytes") }

  @Test("the error for a log, a stream or a context says what it is")
  func otherKinds() throws {
    #expect(
      text(Int.self, Data([0x7F, 2, 8, 0])).hasSuffix(
        "a log of records, which RecordLogReader of StowRecords reads"))
    #expect(
      text(Int.self, Data([0x7F, 3, 8, 0])).hasSuffix(
        "a stream of records, which RecordStreamDecoder of StowRecords reads"))
    let context = try StowContext(learningFrom: [["name": "Ada"], ["name": "Ada"]])
    let expected = "Expected a value of type Int, but found nil at offset \(context.data.count - 1)"
    #expect(text(Int.self, context.data) == "nothing: \(expected); the message is that of a StowContext")
    #expect(
      text(Int.self, try StowEncoder().encode(Int?.none))
        == "nothing: Expected a value of type Int, but found nil at offset 0")
  }

  @Test("errors distinguish a floating-point number from a number that is too large")
  func numbers() throws {
    #expect(
      text(Int.self, try StowEncoder().encode(1.5))
        == "Expected a value of type Int, but found a floating-point number at offset 0")
    #expect(
      text([Int].self, try StowEncoder().encode([1.5, 2.25, 3]))
        == "Expected a value of type Int, but found a floating-point number at offset 1")
    #expect(text([UInt8].self, try StowEncoder().encode([1, -1])).contains("a number that does not fit"))
    #expect(text(Int8.self, try StowEncoder().encode(1000)).contains("a number that does not fit"))
  }

  /// A value that is decoded from an object.
  private struct Object: Codable {
    @Polymorphic var values: [any Shape]
  }

  /// What follows " at offset " in the text of the error that `body` throws.
  private func offset(_ body: () throws -> some Any) -> String {
    do {
      _ = try body()
      return "no error"
    } catch DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context) {
      return String(context.debugDescription.components(separatedBy: " at offset ").last ?? "")
    } catch {
      return "\(error)"
    }
  }

  @Test(
    "errors about elements without tags name where the element begins",
    arguments: [
      // Integers of two bytes, counted from a base, of their own widths, and differences.
      ([0x74, 7, 0x02, 1, 0, 44, 1, 5, 0], 5), ([0x74, 6, 0xD1, 0x04, 0xE8, 3, 0, 1], 6),
      ([0x74, 8, 0x0D, 3, 0x21, 0x01, 5, 44, 1, 6], 4), ([0x74, 8, 0x0D, 3, 0x11, 0x02, 5, 6, 44, 1], 5),
      ([0x74, 4, 0xB1, 1, 127, 1], 5), ([0x74, 6, 0xB1, 2, 0, 1, 1, 1], 3),
      // Floating-point numbers, Bools, and the bytes of data.
      ([0x75, 4, 0, 0, 192, 63], 2), ([0x74, 4, 0x0C, 7, 255, 1], 4), ([0x19, 2, 1, 128], 3),
    ] as [([UInt8], Int)])
  func elementOffsets(_ bytes: [UInt8], _ expected: Int) throws {
    #expect(offset { try StowDecoder().decode([Int8].self, from: bytes) } == "\(expected)")
    if bytes[0] != 0x19 {  // Data is no array of a message.
      let elements = try StowMessage(from: bytes).elements()
      #expect(offset { try elements.map { try $0.decode(Int8.self) } } == "\(expected)")
    }
    try read(message: Data(bytes)) { decoder in
      var list = try decoder.unkeyedContainer()
      #expect(offset { while !list.isAtEnd { _ = try list.decode(Int8.self) } } == "\(expected)")
    }
  }

  @Test("errors about rows and cells name where the row or the cell begins")
  func rowOffsets() throws {
    struct Point: Codable { var x, y: Int }
    let table = try StowEncoder().encode((0..<10).map { Point(x: 100 + $0, y: -$0) })
    let matrix = try StowEncoder().encode((0..<10).map { [100 + $0, -$0] })
    for (message, steps) in [(table, ["x", "y"]), (matrix, [0, 1])] as [(Data, [StowPath.Step])] {
      let rows = message.count - 20
      #expect(offset { try StowDecoder().decode([Int].self, from: message) } == "\(rows)")
      #expect(offset { try StowDecoder().decode(Int.self, from: message, at: [3]) } == "\(rows + 6)")
      for (column, step) in steps.enumerated() {
        let expected = "\(rows + 6 + column)"
        #expect(offset { try StowDecoder().decode(Bool.self, from: message, at: [3, step]) } == expected)
        #expect(offset { try StowDecoder().decode([Int].self, from: message, at: [3, step]) } == expected)
        #expect(offset { try StowMessage(from: message).keys(at: [3, step]) } == expected)
        #expect(offset { try StowMessage(from: message).count(at: [3, step]) } == expected)
      }
    }
    #expect(offset { try StowDecoder().decode([[Bool]].self, from: matrix) } == "\(matrix.count - 20)")
    #expect(offset { try StowDecoder().decode([[String: Bool]].self, from: table) } == "\(table.count - 20)")
  }

  @Test("errors about polymorphic values name where the value begins")
  func polymorphicOffsets() throws {
    let decoder = StowDecoder()
    decoder.types = .shapes
    let packed = try StowEncoder().encode(["values": (0..<10).map { $0 % 2 == 0 ? 100 : -100 }])
    let table = try StowEncoder().encode(["values": (0..<10).map { ["circle": $0] }])
    #expect(offset { try decoder.decode(Object.self, from: packed) } == "\(packed.count - 10)")
    #expect(offset { try decoder.decode(Object.self, from: table) } == "\(table.count - 10)")
    #expect(
      offset { try decoder.decode(polymorphic: (any Shape).self, from: packed, at: ["values", 2]) }
        == "\(packed.count - 8)")
  }

  @Test("errors quote a string that is not a UUID or URL, unless it is long")
  func strings() throws {
    #expect(
      text(UUID.self, try StowEncoder().encode("no\n"))
        == #"Expected a value of type UUID, but found the string "no\n" at offset 0"#)
    #expect(
      text(URL.self, try StowEncoder().encode(""))
        == #"Expected a value of type URL, but found the string "" at offset 0"#)
    #expect(
      text(UUID.self, try StowEncoder().encode(String(repeating: "long ", count: 1000)))
        == "Expected a value of type UUID, but found another string at offset 0")
  }

  @Test("the error for a URL without a string says where its value is")
  func brokenURL() throws {
    struct Link<Target: Codable>: Codable { var from, to: Target }
    let link = Link(from: "a", to: "b")
    let bytes = try StowEncoder().encode([link, link]).dropLast(2) + [0x1A, 0x91]
    let texts = [
      text([Link<String>].self, bytes), text([Link<URL>].self, bytes), text(StowValue.self, bytes),
    ]
    for text in texts {
      #expect(text.hasSuffix("but the bytes at offset \(bytes.count - 1) break the format"))
    }
  }

  @Test(
    "the error for bytes after a message says how many there are",
    arguments: [(1, "is 1 byte"), (3, "are 3 bytes")])
  func surplus(count: Int, words: String) throws {
    let message = try StowEncoder().encode(["name": "Ada"])
    #expect(
      text([String: String].self, message + Data(count: count))
        == "Expected a message, but there \(words) after the message, at offset \(message.count)")
  }

  @Test("errors name no type that is internal to the library")
  func underlying() {
    for bytes in [Data(), Data([0x01, 0x02]), Data([0x7F, 2])] {
      #expect(throws: DecodingError.self) { try StowDecoder().decode(Int.self, from: bytes) }
      do {
        _ = try StowDecoder().decode(Int.self, from: bytes)
      } catch {
        #expect(!"\(error)\(String(reflecting: error))".contains("Unreadable"))
      }
    }
  }

  @Test("a string that is not a UUID is replaced by a lenient template")
  func lenient() throws {
    struct Settings: Codable, Equatable { var id = UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") }
    let data = try StowEncoder().encode(["id": "none"])
    let settings = try StowDecoder().decode(Settings.self, from: data, defaults: Settings(), strategy: .lenient)
    #expect(settings == Settings())
    #expect(throws: DecodingError.self) { try StowDecoder().decode(Settings.self, from: data, defaults: Settings()) }
  }
}
