import SwiftProtobuf

/// `Level` as protoc writes it for `message Level { string station = 1; double metres = 2; optional string remark = 3;
/// }`.
struct LevelMessage: Sendable {
  var station: String = String()
  var metres: Double = 0
  var remark: String {
    get { _remark ?? String() }
    set { _remark = newValue }
  }
  var unknownFields = UnknownStorage()
  private var _remark: String?

  init() {}

  init(_ level: Level) {
    station = level.station
    metres = level.metres
    _remark = level.remark
  }
}

extension LevelMessage: Message, _MessageImplementationBase, _ProtoNameProviding {
  static let protoMessageName = "Level"
  // swift-format-ignore: AlwaysUseLowerCamelCase
  static let _protobuf_nameMap = _NameMap(bytecode: "\0\u{1}station\0\u{1}metres\0\u{1}remark\0")

  mutating func decodeMessage<D: SwiftProtobuf.Decoder>(decoder: inout D) throws {
    while let fieldNumber = try decoder.nextFieldNumber() {
      switch fieldNumber {
      case 1: try { try decoder.decodeSingularStringField(value: &self.station) }()
      case 2: try { try decoder.decodeSingularDoubleField(value: &self.metres) }()
      case 3: try { try decoder.decodeSingularStringField(value: &self._remark) }()
      default: break
      }
    }
  }

  func traverse<V: Visitor>(visitor: inout V) throws {
    if !station.isEmpty { try visitor.visitSingularStringField(value: station, fieldNumber: 1) }
    if metres.bitPattern != 0 { try visitor.visitSingularDoubleField(value: metres, fieldNumber: 2) }
    try { if let v = self._remark { try visitor.visitSingularStringField(value: v, fieldNumber: 3) } }()
    try unknownFields.traverse(visitor: &visitor)
  }
}

/// The same for `message Levels { repeated Level levels = 1; }`.
struct LevelsMessage: Sendable {
  var levels: [LevelMessage] = []
  var unknownFields = UnknownStorage()
}

extension LevelsMessage: Message, _MessageImplementationBase, _ProtoNameProviding {
  static let protoMessageName = "Levels"
  // swift-format-ignore: AlwaysUseLowerCamelCase
  static let _protobuf_nameMap = _NameMap(bytecode: "\0\u{1}levels\0")

  mutating func decodeMessage<D: SwiftProtobuf.Decoder>(decoder: inout D) throws {
    while let fieldNumber = try decoder.nextFieldNumber() {
      switch fieldNumber {
      case 1: try { try decoder.decodeRepeatedMessageField(value: &self.levels) }()
      default: break
      }
    }
  }

  func traverse<V: Visitor>(visitor: inout V) throws {
    if !levels.isEmpty { try visitor.visitRepeatedMessageField(value: levels, fieldNumber: 1) }
    try unknownFields.traverse(visitor: &visitor)
  }
}
