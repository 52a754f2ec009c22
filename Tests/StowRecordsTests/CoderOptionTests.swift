import Foundation
import Stow
import Testing

@testable import StowRecords

private protocol Shape: Codable { var area: Double { get } }

private struct Circle: Shape {
  var radius: Double
  var area: Double { 3 * radius * radius }
}

private struct Square: Shape {
  var side: Double
  var area: Double { side * side }
}

private struct Drawing: Codable {
  @Polymorphic var shape: any Shape
  var name: String
}

/// A log uses the options of the coders that it is given.
@Suite("The coders of a log")
struct CoderOptionTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var types: TypeRegistry {
    var types = TypeRegistry()
    types.register(Circle.self, as: "circle")
    types.register(Square.self, as: "square")
    return types
  }

  @Test(arguments: [RecordLog.Packing.none, .words])
  func polymorphicPropertiesAreLogged(_ packing: RecordLog.Packing) throws {
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    (encoder.types, decoder.types) = (types, types)
    let log = try RecordLog(at: folder.log, encoder: encoder, decoder: decoder, packing: packing)
    for side in 0..<50 {
      try log.append(Drawing(shape: Square(side: Double(side)), name: "the square of the side \(side)"))
      try log.append(Drawing(shape: Circle(radius: Double(side)), name: "the circle of the radius \(side)"))
    }
    try log.compact { $0.number >= 10 }
    try log.flush()
    let reader = try RecordLogReader(at: folder.log, decoder: decoder)
    for log in [log, reader] {
      let areas = try log.records.map { try $0.decode(Drawing.self).shape.area }
      let expected = (5..<50).map(Double.init).flatMap { (side: Double) -> [Double] in
        [side * side, 3 * side * side]
      }
      #expect(areas == expected)
      #expect(try log.decode(Drawing.self, at: 99).shape is Circle)
    }
    let without = try RecordLogReader(at: folder.log)
    #expect(throws: DecodingError.self) { try without.decode(Drawing.self, at: 10) }
  }

  private struct Tagged: Codable {
    static let key = CodingUserInfoKey(rawValue: "tag")!
    var tag: String?

    init() {}
    init(from decoder: any Decoder) throws {
      let written = try decoder.singleValueContainer().decode(String.self)
      tag = written + (decoder.userInfo[Self.key] as? String ?? "-")
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(encoder.userInfo[Self.key] as? String ?? "-")
    }
  }

  @Test func userInfoIsHandedToRecords() throws {
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    (encoder.userInfo, decoder.userInfo) = ([Tagged.key: "out"], [Tagged.key: "in"])
    let log = try RecordLog(at: folder.log, encoder: encoder, decoder: decoder)
    try log.append(Tagged())
    #expect(try log.decode(Tagged.self, at: 0).tag == "outin")
  }

  @Test func contextsAreNotUsedForRecords() throws {
    let (encoder, decoder) = (StowEncoder(), StowDecoder())
    let context = try StowContext(learningFrom: [New(id: 1), New(id: 2)])
    encoder.context = context
    decoder.implicitContext = context
    let log = try RecordLog(at: folder.log, encoder: encoder, decoder: decoder)
    let values = (0..<9).map { New(id: $0) }
    try log.append(group: values.prefix(3))
    try log.append(contentsOf: values.dropFirst(3))
    try log.compact { $0.number > 0 }
    try log.flush()
    for log in [log, try RecordLogReader(at: folder.log)] {
      #expect(try log.records.map { try $0.decode(New.self) } == Array(values.dropFirst()))
      for number in 1..<9 {
        #expect(try log.decode(New.self, at: number) == values[number])
        #expect(try log.record(at: number).message().decode(Int.self, at: ["id"]) == number)
      }
    }
  }

  @Test func keysAreSortedIfTheEncoderSortsThem() throws {
    let encoder = StowEncoder()
    encoder.outputFormatting = .sortedKeys
    let log = try RecordLog(at: folder.log, encoder: encoder)
    let value: StowValue = ["b": 1, "c": 2, "a": ["z": 1, "y": 2]]
    try log.append(value)
    #expect(try log.decode(StowValue.self, at: 0).object?.keys == ["a", "b", "c"])
  }

  private struct Old: Codable {
    var id: Int
  }

  private struct New: Codable, Equatable {
    var id: Int
    var place = "nowhere"
    var level = 1.5
  }

  @Test func recordsOfAnOlderVersionOfATypeTakeDefaults() throws {
    let log = try RecordLog(at: folder.log)
    for id in 0..<10 { try log.append(Old(id: id)) }
    try log.append(New(id: 10, place: "here", level: 3))
    try log.append(["id": 11, "place": 7] as StowValue)
    let template = New(id: -1)
    for number in 0..<10 {
      #expect(throws: DecodingError.self) { try log.decode(New.self, at: number) }
      #expect(try log.record(at: number).decode(New.self, defaults: template) == New(id: number))
    }
    #expect(
      try log.records(from: 9).map { try $0.decode(New.self, defaults: template, strategy: .lenient) } == [
        New(id: 9), New(id: 10, place: "here", level: 3), New(id: 11),
      ])
    #expect(throws: DecodingError.self) { try log.record(at: 11).decode(New.self, defaults: template) }
  }
}
