import Foundation
import Stow
import Testing

/// Containers of every kind nested `depth` deep around an integer.
private enum Nest: CaseIterable, Sendable {
  case arrays, objects, singleArrays, singleDictionaries, singleOptionals
  case nestedContainers, nestedObjects, superEncoders

  /// Those whose limits a thread's stack reaches: the frames of optionals are large, and sanitizers make them several
  /// times as large, so that the stack ends before.
  static var fitting: [Nest] { allCases.filter { !isSanitized || $0 != .singleOptionals } }

  func value(depth: Int) -> Writes {
    switch self {
    case .arrays:
      return Writes { encoder in
        guard depth > 0 else { return try encoder.writeSingle(7) }
        var list = encoder.unkeyedContainer()
        try list.encode(value(depth: depth - 1))
      }
    case .objects:
      return Writes { encoder in
        guard depth > 0 else { return try encoder.writeSingle(7) }
        var object = encoder.container(keyedBy: AnyKey.self)
        try object.encode(value(depth: depth - 1), forKey: "k")
      }
    case .singleArrays:
      return Writes { try depth > 0 ? $0.writeSingle([value(depth: depth - 1)]) : $0.writeSingle(7) }
    case .singleDictionaries:
      return Writes { try depth > 0 ? $0.writeSingle(["k": value(depth: depth - 1)]) : $0.writeSingle(7) }
    case .singleOptionals:
      return Writes { encoder in
        guard depth > 0 else { return try encoder.writeSingle(7) }
        let inner = value(depth: depth - 1)
        try encoder.writeSingle(Writes?.some(Writes { try $0.writeSingle(["k": inner]) }))
      }
    case .nestedContainers:
      return Writes { encoder in
        var list = encoder.unkeyedContainer()
        for _ in 1..<depth { list = list.nestedUnkeyedContainer() }
        try list.encode(7)
      }
    case .nestedObjects:
      return Writes { encoder in
        var object = encoder.container(keyedBy: AnyKey.self)
        for _ in 1..<depth { object = object.nestedContainer(keyedBy: AnyKey.self, forKey: "k") }
        try object.encode(7, forKey: "k")
      }
    case .superEncoders:
      return Writes { encoder in
        var encoder = encoder
        for _ in 0..<depth {
          var object = encoder.container(keyedBy: AnyKey.self)
          encoder = object.superEncoder(forKey: "k")
        }
        try encoder.writeSingle(7)
      }
    }
  }

  func message(depth: Int) throws -> Data {
    let encoder = StowEncoder()
    encoder.maximumDepth = 100_000
    return try encoder.encode(value(depth: depth))
  }
}

/// Reads what `Nest` writes and counts the levels.
private struct Depth: Decodable {
  var depth: Int

  init(from decoder: any Decoder) throws {
    if var list = try? decoder.unkeyedContainer() {
      depth = try list.decode(Depth.self).depth + 1
    } else if let object = try? decoder.container(keyedBy: AnyKey.self) {
      depth = try object.decode(Depth.self, forKey: "k").depth + 1
    } else {
      depth = try decoder.readSingle(Int.self) - 7
    }
  }
}

@Suite("Limits of depth")
struct DepthTests {
  @Test("encoders and decoders allow 512 levels by default")
  func defaults() {
    #expect(StowEncoder().maximumDepth == 512)
    #expect(StowDecoder().maximumDepth == 512)
  }

  @Test("values within the limit are encoded and decoded")
  fileprivate func within() {
    forEachCase(of: Nest.fitting) { (nest: Nest) in
      let data = try StowEncoder().encode(nest.value(depth: 400))
      #expect(try StowDecoder().decode(Depth.self, from: data).depth == 400)
    }
  }

  @Test("encoding beyond the limit throws invalidValue")
  fileprivate func encoding() {
    forEachCase(of: Nest.allCases) { (nest: Nest) in
      for depth in [600, 5000] {
        #expect(failure { try StowEncoder().encode(nest.value(depth: depth)) }?.kind == .invalidValue)
      }
    }
  }

  @Test("decoding beyond the limit throws dataCorrupted")
  fileprivate func decoding() {
    forEachCase(of: Nest.fitting) { (nest: Nest) in
      let data = try nest.message(depth: 600)
      #expect(failure { try StowDecoder().decode(Depth.self, from: data) }?.kind == .dataCorrupted)
    }
  }

  @Test("the limit applies to values that are skipped")
  fileprivate func skipped() {
    forEachCase(of: Nest.fitting) { (nest: Nest) in
      struct Known: Decodable {
        var known: Int
      }
      let encoder = StowEncoder()
      encoder.maximumDepth = 100_000
      let value = Writes { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(nest.value(depth: 600), forKey: "unknown")
        try container.encode(1, forKey: "known")
      }
      let data = try encoder.encode(value)
      #expect(failure { try StowDecoder().decode(Known.self, from: data) }?.kind == .dataCorrupted)
      let decoder = StowDecoder()
      decoder.maximumDepth = 1000
      #expect(try decoder.decode(Known.self, from: data).known == 1)
    }
  }

  @Test("the depth limits of encoders and decoders can be set")
  fileprivate func settable() {
    forEachCase(of: Nest.fitting) { (nest: Nest) in
      let encoder = StowEncoder()
      encoder.maximumDepth = 20
      _ = try encoder.encode(nest.value(depth: 10))
      #expect(failure { try encoder.encode(nest.value(depth: 30)) }?.kind == .invalidValue)
      encoder.maximumDepth = 2000
      let data = try encoder.encode(nest.value(depth: 600))
      let decoder = StowDecoder()
      decoder.maximumDepth = 2000
      #expect(try decoder.decode(Depth.self, from: data).depth == 600)
      decoder.maximumDepth = 20
      #expect(failure { try decoder.decode(Depth.self, from: data) }?.kind == .dataCorrupted)
      #expect(try decoder.decode(Depth.self, from: nest.message(depth: 10)).depth == 10)
    }
  }

  @Test("exactly as many containers as the limit says are allowed, even beside a large value")
  fileprivate func exact() {
    forEachCase(of: Nest.allCases) { (nest: Nest) in
      let (encoder, decoder) = (StowEncoder(), StowDecoder())
      (encoder.maximumDepth, decoder.maximumDepth) = (20, 20)
      let data = try encoder.encode(nest.value(depth: 20))
      #expect(try decoder.decode(Depth.self, from: data).depth == 20)
      #expect(failure { try encoder.encode(nest.value(depth: 21)) }?.kind == .invalidValue)
      let deeper = try nest.message(depth: 21)
      #expect(failure { try decoder.decode(Depth.self, from: deeper) }?.kind == .dataCorrupted)

      let text = String(repeating: "long", count: 40)
      for (depth, isAllowed) in [(19, true), (20, false)] {
        let list: StowValue = [.string(text), try StowValue(from: nest.message(depth: depth))]
        let data = try list.encoded()
        let found = failure { try decoder.decode([String].self, from: data) }
        #expect(found?.kind == (isAllowed ? .typeMismatch : .dataCorrupted), "\(nest), \(depth)")
      }
    }
  }

  @Test("the innermost container counts, even if it contains only scalars or nothing")
  func innermost() {
    struct Pair: Encodable {
      var first = 1
      var second = "2"
    }
    func check(_ value: some Encodable, depth: Int, sourceLocation: SourceLocation = #_sourceLocation) {
      let encoder = StowEncoder()
      encoder.maximumDepth = depth
      #expect(throws: Never.self, sourceLocation: sourceLocation) { try encoder.encode(value) }
      encoder.maximumDepth = depth - 1
      let found = failure(sourceLocation: sourceLocation) { try encoder.encode(value) }
      #expect(found?.kind == .invalidValue, sourceLocation: sourceLocation)
    }
    let list = Writes { encoder in
      var list = encoder.unkeyedContainer()
      try list.encode(1)
    }
    let point = FieldPoint<Tabled>(x: 1, y: 2, z: 3)
    check(Pair(), depth: 1)
    check([Pair()], depth: 2)
    check([[Pair()]], depth: 3)
    check(["key": [Pair()]], depth: 3)
    check(Writes { try $0.writeSingle([Pair()]) }, depth: 2)
    check(list, depth: 1)
    check([list], depth: 2)
    check(["key": list], depth: 2)
    check(Writes { _ = $0.unkeyedContainer() }, depth: 1)
    check([Writes { _ = $0.container(keyedBy: AnyKey.self) }], depth: 2)
    check(point, depth: 1)
    check([[point]], depth: 3)
    check([["key": point]], depth: 3)
    check([[1]], depth: 2)
    check([["key": 1]], depth: 2)
    check([["key": 1]] as StowValue, depth: 2)
    check([Writes { _ in }], depth: 2)
    check(["key": Writes { try $0.writeSingle(Writes { _ in }) }], depth: 2)
  }

  @Test("a place without a value is an empty object, and one with a number is not a container")
  func places() throws {
    func encode(_ body: @escaping (inout any UnkeyedEncodingContainer) throws -> Void) throws -> [StowValue] {
      let (encoder, decoder) = (StowEncoder(), StowDecoder())
      (encoder.maximumDepth, decoder.maximumDepth) = (1, 1)
      let value = Writes { encoder in
        var list = encoder.unkeyedContainer()
        try body(&list)
      }
      return try decoder.decode([StowValue].self, from: encoder.encode(value))
    }
    let empty = Writes { _ in }
    let refusing = Writes { _ in throw Refusal() }
    #expect(failure { try encode { _ = $0.superEncoder() } } == .invalidValue(0))
    #expect(failure { try encode { try $0.encode(empty) } } == .invalidValue(0))
    #expect(try encode { try $0.superEncoder().writeSingle(1) } == [1])
    #expect(try encode { try? $0.encode(refusing) } == [])
    let nothing = failure {
      try encode { list in
        try list.encode(
          Writes { encoder in
            try? encoder.writeSingle(
              Writes {
                try $0.writeSingle(1)
                throw Refusal()
              })
          })
      }
    }
    #expect(nothing == .invalidValue(0))
    let late = try encode { list in
      var kept: (any Encoder)?
      try list.encode(Writes { kept = $0 })
      try list.encode(2)
      try kept?.writeSingle(1)
    }
    #expect(late == [1, 2])
    let again = try encode { list in
      try list.encode(
        Writes { encoder in
          try? encoder.writeSingle(refusing)
          try encoder.writeSingle(1)
        })
    }
    #expect(again == [1])
  }

  @Test("the limit applies to containers that take a single byte each")
  func smallest() throws {
    let decoder = StowDecoder()
    decoder.maximumDepth = 20
    for (depth, isAllowed) in [(19, true), (20, false)] {
      let nest = (1..<depth).reduce([] as StowValue) { nest, _ in [nest] }
      let data = try ([.string(String(repeating: "long", count: 40)), nest] as StowValue).encoded()
      let found = failure { try decoder.decode([String].self, from: data) }
      #expect(found?.kind == (isAllowed ? .typeMismatch : .dataCorrupted), "\(depth)")
    }
  }

  @Test("sibling containers do not add to the depth")
  func siblings() throws {
    let encoder = StowEncoder()
    encoder.maximumDepth = 8
    let decoder = StowDecoder()
    decoder.maximumDepth = 8
    let value = [[[Int]]](repeating: [[1], [2, 3]], count: 50)
    #expect(try decoder.decode([[[Int]]].self, from: encoder.encode(value)) == value)
    let objects = (0..<50).map { ["a": ["b": $0]] }
    #expect(try decoder.decode([[String: [String: Int]]].self, from: encoder.encode(objects)) == objects)
  }

  @Test("an encoder stays usable after an error of depth is swallowed")
  func swallowed() throws {
    try expectWritten(["a": 1, "b": [2]]) { encoder in
      var container = encoder.container(keyedBy: AnyKey.self)
      try container.encode(1, forKey: "a")
      #expect(throws: EncodingError.self) { try container.encode(Nest.arrays.value(depth: 1000), forKey: "deep") }
      try container.encode([2], forKey: "b")
    }
  }

  @Test("a value that throws fails the message only if it nested too deeply outside of itself")
  func elsewhere() throws {
    func encode(
      isElsewhere: Bool, _ nest: @escaping (inout any UnkeyedEncodingContainer) -> Void
    ) throws -> [StowValue] {
      let (encoder, decoder) = (StowEncoder(), StowDecoder())
      (encoder.maximumDepth, decoder.maximumDepth) = (2, 2)
      let value = Writes { encoder in
        var list = encoder.unkeyedContainer()
        let other = list.superEncoder()
        try? list.encode(
          Writes { encoder in
            var own = encoder.unkeyedContainer()
            var others = other.unkeyedContainer()
            nest(&own)
            if isElsewhere { nest(&others) }
            throw Refusal()
          })
      }
      return try decoder.decode([StowValue].self, from: encoder.encode(value))
    }
    for nest: (inout any UnkeyedEncodingContainer) -> Void in [
      { _ = $0.nestedUnkeyedContainer() }, { _ = $0.superEncoder() },
    ] {
      #expect(failure { try encode(isElsewhere: true, nest) } == .invalidValue(0, 0))
      #expect(try encode(isElsewhere: false, nest) == [[]])
    }
  }

  @Test("a value that throws no longer counts toward the depth, wherever it wrote before")
  func takenBack() throws {
    func encode(_ body: @escaping (any Encoder) throws -> Void) throws -> StowValue {
      let encoder = StowEncoder()
      encoder.maximumDepth = 2
      let value = Writes { encoder in
        var list = encoder.unkeyedContainer()
        try? list.encode(Writes(body))
      }
      return try StowValue(from: encoder.encode(value))
    }
    let kept = try encode { encoder in
      var own = encoder.unkeyedContainer()
      let kept = own.superEncoder()
      try? own.encode(
        Writes { encoder in
          _ = encoder.unkeyedContainer()
          try? kept.writeSingle(
            Writes {
              try $0.writeSingle(1)
              throw Refusal()
            })
          throw Refusal()
        })
      try kept.writeSingle(1)
    }
    #expect(kept == [[1]])
    let filled = try encode { encoder in
      var own = encoder.unkeyedContainer()
      try own.superEncoder().writeSingle(Optional(Writes { _ in }))
      throw Refusal()
    }
    #expect(filled == [])
    let failure = failure {
      try encode { encoder in
        var own = encoder.unkeyedContainer()
        try own.superEncoder().writeSingle(Optional(Writes { _ in }))
      }
    }
    #expect(failure == .invalidValue(0, 0))
  }

  @Test("the path of the error leads to the value that nests too deep")
  func path() {
    let failure = failure { try StowEncoder().encode(["k": Nest.arrays.value(depth: 1000)]) }
    #expect(failure?.path.first == "k")
    #expect(failure?.path.dropFirst().allSatisfy { $0 == 0 } == true)
  }

  @Test("the error carries the value that nests too deep", arguments: Nest.allCases)
  fileprivate func value(nest: Nest) {
    for depth in [600, 5000] {
      do {
        _ = try StowEncoder().encode(nest.value(depth: depth))
        Issue.record("no error")
      } catch EncodingError.invalidValue(let value, _) {
        let isCarried = value is Writes || value is Writes? || value is [Writes] || value is [String: Writes]
        #expect(isCarried, "\(type(of: value))")
      } catch {
        Issue.record(error)
      }
    }
  }

  @Test("errors carry whole values whose containers nest too deep, and arrays of numbers unchanged")
  func wholeValue() {
    func carried(_ value: some Encodable, depth: Int = 512) -> Any? {
      let encoder = StowEncoder()
      encoder.maximumDepth = depth
      do {
        _ = try encoder.encode(value)
        return nil
      } catch EncodingError.invalidValue(let value, _) {
        return value
      } catch {
        return error
      }
    }
    #expect(carried(["key": Nest.nestedContainers.value(depth: 600)]) is [String: Writes])
    #expect(carried(["key": Array(0..<100)], depth: 1) as? [Int] == Array(0..<100))
    #expect(carried(["key": [1, 2]], depth: 1) as? [Int] == [1, 2])
    #expect(carried([["key": StowValue.array([1])]], depth: 2) as? StowValue == [1])
  }

  @Test("continued and late containers count only their own depth, not that of others")
  func continued() throws {
    func nested(_ list: any UnkeyedEncodingContainer, _ levels: Int) -> any UnkeyedEncodingContainer {
      var list = list
      for _ in 0..<levels { list = list.nestedUnkeyedContainer() }
      return list
    }
    for (first, more, late, fits) in [
      (400, 111, 300, true), (400, 112, 300, false), (10, 501, 300, true), (10, 502, 300, false),
      (400, 100, 510, true), (400, 100, 511, false),
    ] {
      let value = Writes { encoder in
        var outer = encoder.unkeyedContainer()
        let inner = nested(outer, first)
        try outer.encode(1)
        let other = nested(outer, 300)
        _ = nested(inner, more)
        _ = nested(other, 100)
        _ = nested(outer.superEncoder().unkeyedContainer(), late)
      }
      if fits {
        #expect(try StowDecoder().decode(StowValue.self, from: StowEncoder().encode(value)).array?.count == 4)
      } else {
        #expect(failure { try StowEncoder().encode(value) }?.kind == .invalidValue)
      }
    }
  }

  @Test("2,000 containers that are written late are not nested in each other")
  func late() throws {
    let value = Writes { encoder in
      var list = encoder.unkeyedContainer()
      let encoders = (0..<2_000).map { _ in list.superEncoder() }
      for (number, encoder) in encoders.enumerated() {
        if number % 2 == 0 {
          var container = encoder.unkeyedContainer()
          try container.encode(number)
        } else {
          var container = encoder.container(keyedBy: AnyKey.self)
          try container.encode(number, forKey: "number")
        }
      }
    }
    let read = try transcode(value, to: StowValue.self)
    #expect(read.array?.count == 2_000 && read[1_998] == [1_998] && read[1_999] == ["number": 1_999])
  }
}
