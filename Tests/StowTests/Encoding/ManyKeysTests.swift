import Stow
import Testing

@Suite("Objects with many keys")
struct ManyKeysTests {
  private struct Seventy: Codable, Equatable {
    var field0: Int = 0
    var field1: String = "1"
    var field2: Double?
    var field3: Bool = true
    var field4: Int? = 400
    var field5: [Int] = [5]
    var field6: String?
    var field7: Int = 7
    var field8: String = "8"
    var field9: Double?
    var field10: Bool = true
    var field11: Int? = 1100
    var field12: [Int] = [12]
    var field13: String?
    var field14: Int = 14
    var field15: String = "15"
    var field16: Double?
    var field17: Bool = true
    var field18: Int? = 1800
    var field19: [Int] = [19]
    var field20: String?
    var field21: Int = 21
    var field22: String = "22"
    var field23: Double?
    var field24: Bool = true
    var field25: Int? = 2500
    var field26: [Int] = [26]
    var field27: String?
    var field28: Int = 28
    var field29: String = "29"
    var field30: Double?
    var field31: Bool = true
    var field32: Int? = 3200
    var field33: [Int] = [33]
    var field34: String?
    var field35: Int = 35
    var field36: String = "36"
    var field37: Double?
    var field38: Bool = true
    var field39: Int? = 3900
    var field40: [Int] = [40]
    var field41: String?
    var field42: Int = 42
    var field43: String = "43"
    var field44: Double?
    var field45: Bool = true
    var field46: Int? = 4600
    var field47: [Int] = [47]
    var field48: String?
    var field49: Int = 49
    var field50: String = "50"
    var field51: Double?
    var field52: Bool = true
    var field53: Int? = 5300
    var field54: [Int] = [54]
    var field55: String?
    var field56: Int = 56
    var field57: String = "57"
    var field58: Double?
    var field59: Bool = true
    var field60: Int? = 6000
    var field61: [Int] = [61]
    var field62: String?
    var field63: Int = 63
    var field64: String = "64"
    var field65: Double?
    var field66: Bool = true
    var field67: Int? = 6700
    var field68: [Int] = [68]
    var field69: String?
  }

  @Test("seventy fields, some of them optional, survive a round trip")
  func seventyFields() {
    let values = (0..<20).map { i in
      var value = Seventy()
      value.field2 = i % 2 == 0 ? 0.5 : nil
      value.field6 = i % 3 == 0 ? "present" : nil
      value.field67 = i
      value.field69 = i % 5 == 0 ? "last" : nil
      return value
    }
    expectRoundTrip(values)
    for value in values.prefix(3) { expectRoundTrip(value) }
  }

  @Test("a few of seventy fields are read and the others skipped")
  func skipped() throws {
    struct Few: Codable, Equatable {
      var field69: String?
      var field63: Int
      var field0: Int
      var field71: Int?
    }
    let copies = try transcode([Seventy(), Seventy()], to: [Few].self)
    #expect(copies == [Few](repeating: Few(field69: nil, field63: 63, field0: 0, field71: nil), count: 2))
  }

  private enum Wide: String, CodingKey, CaseIterable {
    case k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15, k16, k17, k18, k19, k20
    case k21, k22, k23, k24, k25, k26, k27, k28, k29, k30, k31, k32, k33, k34, k35, k36, k37, k38, k39
    case k40, k41, k42, k43, k44, k45, k46, k47, k48, k49, k50, k51, k52, k53, k54, k55, k56, k57, k58
    case k59, k60, k61, k62, k63, k64, k65, k66, k67, k68, k69, k70, k71, k72, k73, k74, k75, k76, k77
    case k78, k79, k80, k81, k82, k83, k84, k85, k86, k87, k88, k89, k90, k91, k92, k93, k94, k95, k96
    case k97, k98, k99, k100, k101, k102, k103, k104, k105, k106, k107, k108, k109, k110, k111, k112
    case k113, k114, k115, k116, k117, k118, k119, k120, k121, k122, k123, k124, k125, k126, k127
    case k128, k129, k130, k131, k132, k133, k134, k135, k136, k137, k138, k139, k140, k141, k142
    case k143, k144, k145, k146, k147, k148, k149, k150, k151, k152, k153, k154, k155, k156, k157
    case k158, k159, k160, k161, k162, k163, k164, k165, k166, k167, k168, k169, k170, k171, k172
    case k173, k174, k175, k176, k177, k178, k179, k180, k181, k182, k183, k184, k185, k186, k187
    case k188, k189, k190, k191, k192, k193, k194, k195, k196, k197, k198, k199, k200, k201, k202
    case k203, k204, k205, k206, k207, k208, k209, k210, k211, k212, k213, k214, k215, k216, k217
    case k218, k219, k220, k221, k222, k223, k224, k225, k226, k227, k228, k229, k230, k231, k232
    case k233, k234, k235, k236, k237, k238, k239, k240, k241, k242, k243, k244, k245, k246, k247
    case k248, k249, k250, k251, k252, k253, k254, k255, k256, k257, k258, k259, k260, k261, k262
    case k263, k264, k265, k266, k267, k268, k269, k270, k271, k272, k273, k274, k275, k276, k277
    case k278, k279, k280, k281, k282, k283, k284, k285, k286, k287, k288, k289, k290, k291, k292
    case k293, k294, k295, k296, k297, k298, k299
  }

  /// Writes the fields of the first or every `step`th case of a key type too wide for one byte.
  private struct WideObject: Codable, Equatable {
    var step = 1
    var values: [String: Int] = [:]

    init(step: Int) {
      self.step = step
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Wide.self)
      for (index, key) in Wide.allCases.enumerated() {
        try container.encodeIfPresent(index % step == 0 ? index : nil, forKey: key)
      }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Wide.self)
      step = 0
      for key in Wide.allCases { values[key.rawValue] = try container.decodeIfPresent(Int.self, forKey: key) }
    }
  }

  @Test("objects of a key type with three hundred cases survive a round trip", arguments: [1, 2, 7, 299])
  func wideKeyType(step: Int) throws {
    let expected = Dictionary(uniqueKeysWithValues: (0..<300).filter { $0 % step == 0 }.map { ("k\($0)", $0) })
    let object = WideObject(step: step)
    #expect(try roundTrip(object).values == expected)
    #expect(try transcode(object, to: [String: Int].self) == expected)
    #expect(
      try roundTrip([object, WideObject(step: 3), object]).map(\.values.count) == [
        expected.count, 100, expected.count,
      ])
  }

  @Test("objects can use a few keys of a type with many, and lack some of them")
  func fewOfMany() throws {
    struct Key: CodingKey {
      let byte: UInt8
      var stringValue: String { "\(byte)" }
      var intValue: Int? { nil }
      init(_ byte: UInt8) { self.byte = byte }
      init?(stringValue: String) { nil }
      init?(intValue: Int) { nil }
    }
    let encoder = StowEncoder()
    func expect(_ objects: [[UInt8]]) throws {
      let values = objects.map { keys in
        Writes { encoder in
          var container = encoder.container(keyedBy: Key.self)
          for key in keys { try container.encode(key, forKey: Key(key)) }
        }
      }
      let expected = objects.map { keys in
        Dictionary(uniqueKeysWithValues: keys.map { ("\($0)", $0) })
      }
      #expect(try StowDecoder().decode([[String: UInt8]].self, from: encoder.encode(values)) == expected)
    }
    // The encoder knows all keys from the first message.
    try expect([Array(0..<70)])
    try expect([[0, 1, 2], [0, 2], [0, 1, 2], [1], [0, 1, 2]])
    try expect([[0, 1, 69], [0, 69], [0, 1, 69], [69], [0, 1, 69]])
  }

  @Test("objects of a key type with one case survive a round trip")
  func oneCase() throws {
    struct One: Codable, Equatable {
      var only: String
    }
    enum Key: CodingKey { case only }
    expectRoundTrip(One(only: "x"))
    expectRoundTrip((0..<50).map { One(only: "x \($0 % 3)") })
    try expectWritten(["only": 2]) { encoder in
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(1, forKey: .only)
      try container.encode(2, forKey: .only)
    }
  }

  @Test("dictionaries of every size survive a round trip")
  func dictionaries() {
    forEachCase(of: [0, 1, 2, 31, 32, 33, 64, 65, 255, 256, 257, 1000, 5000]) { (count: Int) in
      expectRoundTrip(Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", $0) }))
    }
  }

  @Test("objects with more than 255 keys are written many times")
  func manyDynamic() throws {
    let keys = (0..<300).map { AnyKey("dynamic \($0)") }
    let expected = JSONValue.array(
      (0..<3).map { round in
        .object(
          Dictionary(
            uniqueKeysWithValues: keys.enumerated().map { ($1.stringValue, .int(Int64($0 + round))) }))
      })
    try expectWritten(expected) { encoder in
      var list = encoder.unkeyedContainer()
      for round in 0..<3 {
        var object = list.nestedContainer(keyedBy: AnyKey.self)
        for (index, key) in keys.enumerated() { try object.encode(index + round, forKey: key) }
      }
    }
  }

  @Test("a message can have more kinds of objects than a byte counts")
  func manyShapes() {
    let objects = (0..<300).map { i in ["a \(i)": i, "b \(i)": i, "common": 0] }
    expectRoundTrip(objects + objects.reversed())
  }

  @Test("the same keys can be encoded in different orders")
  func orders() throws {
    let keys = ["a", "b", "c", "d"] as [AnyKey]
    let expected = JSONValue.array([JSONValue](repeating: ["a": 1, "b": 1, "c": 1, "d": 1], count: 8))
    try expectWritten(expected) { encoder in
      var list = encoder.unkeyedContainer()
      for i in 0..<8 {
        var object = list.nestedContainer(keyedBy: AnyKey.self)
        let start = i % 4
        let rotated = keys[start...] + keys[..<start]
        for key in i < 4 ? Array(rotated) : rotated.reversed() { try object.encode(1, forKey: key) }
      }
    }
  }

  @Test(
    "an object with over 65,534 keys is read, although a slot looks like a mark",
    arguments: [65_534, 65_535, 65_536])
  func slotsLikeMarks(others: Int) throws {
    struct Pair: Decodable, Equatable {
      var a: Int
      var b: Int?
    }
    var message: [UInt8] = [0x1F, 0, 1] + Bomb.number(others + 2)
    for key in 0..<others { message += Bomb.key(key) }
    message += [0x81, UInt8(ascii: "a"), 0x82] + Array("zz".utf8)
    message += [0xF0] + Bomb.number(others + 2) + [UInt8](repeating: 0x90, count: others) + [0x91, 0x97]
    #expect(try StowDecoder().decode(Pair.self, from: message) == Pair(a: 1, b: nil))
  }

  @Test("the last of two values counts for each key", arguments: [1, 2, 7, 8, 9, 10, 20])
  func repeatedKeys(count: Int) throws {
    let value = Writes { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      for number in 0..<2 * count { try container.encode(number, forKey: AnyKey("key \(number % count)")) }
    }
    let decoded = try transcode(value, to: [String: Int].self)
    #expect(decoded == Dictionary(uniqueKeysWithValues: (0..<count).map { ("key \($0)", $0 + count) }))
  }
}
