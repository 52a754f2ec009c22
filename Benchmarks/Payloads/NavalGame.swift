import Foundation

/// What a game server tells a client at each tick: the `mk48` data set of the Rust serialization benchmark.
struct GameUpdate: Codable, Equatable, Sendable {
  /// What a contact is, if the client can tell; written as its number.
  enum EntityType: UInt8, Codable, Sendable, CaseIterable {
    case arleighBurke, bismarck, clemenceau, fletcher, g5, iowa, kolkata, osa, yasen, zubr
    case hq, oilPlatform, crate, barrel, coin, mark18, p15, rim116, seahawk, superEtendard
  }

  /// Where a ship is steered to.
  struct Guidance: Codable, Equatable, Sendable {
    var directionTarget: Int16
    var velocityTarget: Int16
  }

  /// A place on the map.
  struct Position: Codable, Equatable, Sendable {
    var x: Float
    var y: Float
  }

  /// Where something is and where it goes.
  struct Transform: Codable, Equatable, Sendable {
    var altitude: Int8
    var angle: UInt16
    var position: Position
    var velocity: Int16
  }

  /// Anything the client's sensors see.
  struct Contact: Codable, Equatable, Sendable {
    var altitudeKnown: Bool
    var damage: UInt8
    var entityID: UInt32
    var entityType: EntityType?
    var guidance: Guidance
    var playerID: UInt16?
    var reloads: [Bool]
    var transform: Transform
    var turretAngles: [Float]
  }

  /// A changed square of the map.
  struct TerrainChunk: Codable, Equatable, Sendable {
    var x: Int8
    var y: Int8
    var heights: Data
  }

  var contacts: [Contact]
  var score: UInt32
  var worldRadius: Float
  var terrain: [TerrainChunk]?
}

extension GameUpdate {
  /// As many updates as asked.
  static func make(count: Int) -> [GameUpdate] {
    var random = RandomSource(seed: 17)
    return random.array(count: count) { random in
      GameUpdate(
        contacts: random.array(4...20) { .make(&$0) }, score: UInt32(random.int(in: 0...100_000)),
        worldRadius: random.float(in: 1000...5000),
        terrain: random.maybe(0.2) { $0.array(1...3) { .make(&$0) } })
    }
  }
}

extension GameUpdate.Contact {
  /// A ship, a weapon, or an unknown echo.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    Self(
      altitudeKnown: random.chance(0.5), damage: UInt8(random.int(in: 0...255)),
      entityID: UInt32(truncatingIfNeeded: random.next()),
      entityType: random.maybe(0.8) { $0.pick(GameUpdate.EntityType.allCases) },
      guidance: .init(directionTarget: int16(&random), velocityTarget: int16(&random)),
      playerID: random.maybe(0.6) { UInt16(truncatingIfNeeded: $0.next()) },
      reloads: random.array(0...8) { $0.chance(0.5) },
      transform: .init(
        altitude: Int8(random.int(in: -100...100)), angle: UInt16(truncatingIfNeeded: random.next()),
        position: .init(x: random.float(in: -5000...5000), y: random.float(in: -5000...5000)),
        velocity: int16(&random)),
      turretAngles: random.array(0...4) { $0.float(in: -3.1415927...3.1415927) })
  }

  /// Any 16-bit number.
  private static func int16(_ random: inout RandomSource) -> Int16 {
    Int16(truncatingIfNeeded: random.next())
  }
}

extension GameUpdate.TerrainChunk {
  /// A square of random heights.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    Self(
      x: Int8(random.int(in: -32...32)), y: Int8(random.int(in: -32...32)),
      heights: Data(random.array(count: 64) { UInt8(truncatingIfNeeded: $0.next()) }))
  }
}
