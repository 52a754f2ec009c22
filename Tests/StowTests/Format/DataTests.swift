import Foundation
import Stow
import Testing

@Suite("Data")
struct DataTests {
  @Test("data of every length around the boundaries of headers is decoded unchanged")
  func lengths() throws {
    for length in Array(0...70) + [127, 128, 255, 256, 257, 65535, 65536] {
      let data = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) })
      #expect(try roundTrip(data) == data)
      #expect(try roundTrip([data, data]) == [data, data])
    }
  }

  @Test("data of one mebibyte is decoded unchanged")
  func large() throws {
    var random = SeededGenerator(seed: 2)
    let data = Data((0..<(1 << 20)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    #expect(try roundTrip(data) == data)
    #expect(try roundTrip(["a": data.prefix(1000), "b": data])["b"] == data)
  }

  @Test("a slice of other data is encoded as its own bytes")
  func slices() throws {
    let whole = Data(0...255)
    let slice = whole[100..<200]
    #expect(slice.startIndex == 100)
    let copy = try roundTrip(slice)
    #expect(copy == slice)
    #expect(Array(copy) == Array(100..<200))
    #expect(try roundTrip([slice, whole[250...]]) == [slice, whole[250...]])
    #expect(try roundTrip(whole[5..<5]) == Data())
  }

  @Test("data in fields and dictionaries is decoded unchanged")
  func places() {
    expectRoundTrip(Data([1, 2, 3]))
    expectRoundTrip(Data())
    expectRoundTrip(Data?.none)
  }
}

@Suite("Messages in slices and other buffers")
struct MessageBufferTests {
  private static let value: JSONValue = ["list": [1, 2, 3], "text": "text", "again": ["text", 0.5]]

  @Test("a message is decoded from a slice of data that does not start at index 0")
  func slice() throws {
    let message = try StowEncoder().encode(Self.value)
    var padded = Data([9, 9, 9, 9, 9])
    padded.append(message)
    padded.append(contentsOf: [8, 8])
    let slice = padded[5..<(padded.count - 2)]
    #expect(slice.startIndex == 5)
    #expect(try StowDecoder().decode(JSONValue.self, from: slice) == Self.value)
    struct Blob: Codable, Equatable {
      var data: Data
      var more: [Data]
    }
    let blob = Blob(data: Data([1, 2, 3]), more: [Data(repeating: 7, count: 300), Data()])
    let blobSlice = (Data([0, 0, 0]) + (try StowEncoder().encode(blob))).dropFirst(3)
    #expect(try StowDecoder().decode(Blob.self, from: blobSlice) == blob)
  }

  @Test("a message is decoded from arrays of bytes, their slices and raw buffers")
  func buffers() throws {
    let bytes = [UInt8](try StowEncoder().encode(Self.value))
    let decoder = StowDecoder()
    #expect(try decoder.decode(JSONValue.self, from: bytes) == Self.value)
    #expect(try decoder.decode(JSONValue.self, from: ([1, 2] + bytes)[2...]) == Self.value)
    #expect(try decoder.decode(JSONValue.self, from: ContiguousArray(bytes)) == Self.value)
    let fromRaw = try bytes.withUnsafeBytes { try decoder.decode(JSONValue.self, from: $0) }
    #expect(fromRaw == Self.value)
    let misaligned = [0] + bytes
    for offset in [1] {
      let value = try misaligned.withUnsafeBytes {
        try decoder.decode(JSONValue.self, from: UnsafeRawBufferPointer(rebasing: $0[offset...]))
      }
      #expect(value == Self.value)
    }
  }

  @Test("numbers are decoded at every alignment")
  func alignment() throws {
    struct Numbers: Codable, Equatable {
      var text: String
      var doubles = [0.1, 1e300, -2.5]
      var ints = [1 << 40, -5, 1 << 61]
      var floats: [Float] = [0.1, 2.5]
      var wide = Int128.max
    }
    for length in 0..<16 {
      let value = Numbers(text: String(repeating: "x", count: length))
      let bytes = [UInt8](repeating: 0, count: length) + [UInt8](try StowEncoder().encode(value))
      #expect(try StowDecoder().decode(Numbers.self, from: bytes[length...]) == value)
    }
  }

  @Test("decoded values do not depend on the buffer of the message")
  func ownership() throws {
    let original = Data(repeating: 0xAB, count: 1000)
    var message = try StowEncoder().encode([original, Data([1, 2, 3])])
    let copies = try StowDecoder().decode([Data].self, from: message)
    message.resetBytes(in: message.indices)
    #expect(copies == [original, Data([1, 2, 3])])
  }
}
