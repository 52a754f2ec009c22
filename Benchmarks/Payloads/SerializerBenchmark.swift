import Foundation

/// The five types of GLD.SerializerBenchmark (github.com/leo-gan/GLD.SerializerBenchmark), which compares serializers
/// of many languages: each type alone, and in lists of a hundred.
///
/// The fields and their names are those of that benchmark, and so are the lengths of texts and lists and the ranges of
/// numbers. The values are made here.
enum SerializerBenchmark {
  struct Message: Codable, Equatable, Sendable {
    var bool: Bool
    var int32: Int32
    var int64: Int64
    var float64: Double
    var string: String
    var bool2: Bool
    var int32Second: Int32
    var string2: String

    enum CodingKeys: String, CodingKey {
      case bool = "f_bool"
      case int32 = "f_int32"
      case int64 = "f_int64"
      case float64 = "f_float64"
      case string = "f_string"
      case bool2 = "f_bool_2"
      case int32Second = "f_int32_2"
      case string2 = "f_string_2"
    }
  }

  struct Document: Codable, Equatable, Sendable {
    struct Meta: Codable, Equatable, Sendable {
      var region: String
      var version: Int32
    }

    struct Item: Codable, Equatable, Sendable {
      var sku: String
      var qty: Int32
      var price: Int64

      enum CodingKeys: String, CodingKey {
        case sku, qty
        case price = "price_minor"
      }
    }

    var id: String
    var status: Int32
    var meta: Meta
    var items: [Item]
  }

  struct Telemetry: Codable, Equatable, Sendable {
    var source: String
    var ts: Int64
    var tags: [String]
    var values: [Double]
  }

  struct Strings: Codable, Equatable, Sendable {
    var items: [String]
  }

  struct Event: Codable, Equatable, Sendable {
    struct Attribute: Codable, Equatable, Sendable {
      var key: String
      var value: String
    }

    var id: String
    var type: String
    var occurredAt: Int64
    var producer: String
    var attributes: [Attribute]

    enum CodingKeys: String, CodingKey {
      case id = "event_id"
      case type = "event_type"
      case occurredAt = "occurred_at"
      case producer
      case attributes = "attrs"
    }
  }

  static let payloads =
    pair("message", "8 fields") { random in
      Message(
        bool: random.chance(0.5), int32: Int32(random.int(in: 0...1_000_000)),
        int64: Int64(random.int(in: 0...1_000_000)), float64: random.unit() * 1000,
        string: random.letters(3...16), bool2: random.chance(0.5),
        int32Second: Int32(random.int(in: 0...1_000_000)), string2: random.letters(3...16))
    }
    + pair("document", "an object with 8 items") { random in
      Document(
        id: random.letters(8...12), status: Int32(random.int(in: 0...5)),
        meta: .init(region: random.letters(2...4), version: Int32(random.int(in: 1...10))),
        items: random.array(count: 8) {
          .init(sku: $0.letters(3...12), qty: Int32($0.int(in: 1...100)), price: Int64($0.int(in: 0...100_000)))
        })
    }
    + pair("telemetry", "32 numbers and 2 tags") { random in
      Telemetry(
        source: random.letters(3...10), ts: random.milliseconds(),
        tags: random.array(count: 2) { $0.letters(3...10) },
        values: random.array(count: 32) { $0.unit() * 100 })
    }
    + pair("strings", "32 strings") { random in
      Strings(items: random.array(count: 32) { $0.letters(3...16) })
    }
    + pair("event", "5 fields, 4 attributes") { random in
      Event(
        id: random.letters(8...12), type: random.letters(3...12), occurredAt: random.milliseconds(),
        producer: random.letters(3...12),
        attributes: random.array(count: 4) { .init(key: $0.letters(3...12), value: $0.letters(3...12)) })
    }

  /// A type as that benchmark has it: 1,000 values alone, and 10 lists of a hundred.
  private static func pair<Value: Codable & Equatable & Sendable>(
    _ name: String, _ summary: String, make: @escaping @Sendable (inout RandomSource) -> Value
  ) -> [Payload] {
    [
      Payload(each: "gld_\(name)", "\(summary), 1,000 separate calls (GLD.SerializerBenchmark)", .onDemand) {
        var random = RandomSource(seed: 42)
        return random.array(count: 1000, make)
      },
      Payload(each: "gld_\(name)_100", "100 of them in a list, 10 separate calls", .onDemand) {
        var random = RandomSource(seed: 42)
        return random.array(count: 10) { $0.array(count: 100, make) }
      },
    ]
  }
}

extension RandomSource {
  /// A text of small letters, as long as a number of `range` says.
  fileprivate mutating func letters(_ range: ClosedRange<Int>) -> String {
    String(decoding: array(range) { UInt8(ascii: "a") + UInt8($0.int(in: 0...25)) }, as: UTF8.self)
  }

  /// A time of the first day of 2024.
  fileprivate mutating func milliseconds() -> Int64 { 1_704_067_200_000 + Int64(int(in: 0...86_400_000)) }
}

/// What a game stores of a player: the `minecraft_savedata` data set of the Rust serialization benchmark.
struct Player: Codable, Equatable, Sendable {
  /// How the game is played.
  enum GameType: String, Codable, Sendable {
    case survival, creative, adventure, spectator
  }

  /// A stack of things in a slot.
  struct Item: Codable, Equatable, Sendable {
    var count: Int8
    var slot: UInt8
    var id: String
  }

  /// What the player can do.
  struct Abilities: Codable, Equatable, Sendable {
    var walkSpeed: Float
    var flySpeed: Float
    var mayFly: Bool
    var flying: Bool
    var invulnerable: Bool
    var mayBuild: Bool
    var instabuild: Bool
  }

  /// Anything that moves.
  struct Entity: Codable, Equatable, Sendable {
    var id: String
    var position: Triple
    var motion: Triple
    var rotation: Rotation
    var fallDistance: Float
    var fire: UInt16
    var air: UInt16
    var onGround: Bool
    var noGravity: Bool
    var invulnerable: Bool
    var portalCooldown: Int32
    var uuid: [UInt32]
    var customName: String?
    var customNameVisible: Bool
    var silent: Bool
    var glowing: Bool
  }

  /// What the player rides on.
  struct Vehicle: Codable, Equatable, Sendable {
    var uuid: [UInt32]
    var entity: Entity
  }

  /// What the player knows how to make.
  struct RecipeBook: Codable, Equatable, Sendable {
    var recipes: [String]
    var toBeDisplayed: [String]
    var isFilteringCraftable: Bool
    var isGUIOpen: Bool
    var isFurnaceFilteringCraftable: Bool
    var isFurnaceGUIOpen: Bool
    var isBlastingFurnaceFilteringCraftable: Bool
    var isBlastingFurnaceGUIOpen: Bool
    var isSmokerFilteringCraftable: Bool
    var isSmokerGUIOpen: Bool
  }

  var gameType: GameType
  var previousGameType: GameType
  var score: Int64
  var dimension: String
  var selectedItemSlot: UInt32
  var selectedItem: Item
  var spawnDimension: String?
  var spawnX: Int64
  var spawnY: Int64
  var spawnZ: Int64
  var spawnForced: Bool?
  var sleepTimer: UInt16
  var foodExhaustionLevel: Float
  var foodSaturationLevel: Float
  var foodTickTimer: UInt32
  var xpLevel: UInt32
  var xpProgress: Float
  var xpTotal: Int32
  var xpSeed: Int32
  var inventory: [Item]
  var enderItems: [Item]
  var abilities: Abilities
  var enteredNetherPosition: Triple?
  var position: Triple
  var motion: Triple
  var rotation: Rotation
  var fallDistance: Float
  var fire: UInt16
  var uuid: [UInt32]
  var rootVehicle: Vehicle?
  var shoulderEntityLeft: Entity?
  var shoulderEntityRight: Entity?
  var seenCredits: Bool
  var recipeBook: RecipeBook
}

/// Three numbers written as an array, the way tuples usually are.
struct Triple: Codable, Equatable, Sendable {
  var x: Double
  var y: Double
  var z: Double

  init(x: Double, y: Double, z: Double) {
    self.x = x
    self.y = y
    self.z = z
  }

  /// Reads `[x, y, z]`.
  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    x = try container.decode(Double.self)
    y = try container.decode(Double.self)
    z = try container.decode(Double.self)
  }

  /// Writes `[x, y, z]`.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(x)
    try container.encode(y)
    try container.encode(z)
  }
}

/// Two angles written as an array.
struct Rotation: Codable, Equatable, Sendable {
  var yaw: Float
  var pitch: Float

  init(yaw: Float, pitch: Float) {
    self.yaw = yaw
    self.pitch = pitch
  }

  /// Reads `[yaw, pitch]`.
  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    yaw = try container.decode(Float.self)
    pitch = try container.decode(Float.self)
  }

  /// Writes `[yaw, pitch]`.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(yaw)
    try container.encode(pitch)
  }
}

extension Player {
  /// As many players as asked.
  static func make(count: Int) -> [Player] {
    var random = RandomSource(seed: 16)
    return random.array(count: count) { make(&$0) }
  }

  /// One player.
  private static func make(_ random: inout RandomSource) -> Player {
    let gameTypes: [GameType] = [.survival, .creative, .adventure, .spectator]
    return Player(
      gameType: random.pick(gameTypes), previousGameType: random.pick(gameTypes),
      score: Int64(random.int(in: 0...1_000_000)), dimension: random.pick(dimensions),
      selectedItemSlot: UInt32(random.int(in: 0...8)), selectedItem: .make(&random),
      spawnDimension: random.maybe(0.5) { $0.pick(dimensions) },
      spawnX: Int64(random.int(in: -50_000...50_000)),
      spawnY: Int64(random.int(in: 0...255)), spawnZ: Int64(random.int(in: -50_000...50_000)),
      spawnForced: random.maybe(0.5) { $0.chance(0.5) }, sleepTimer: UInt16(random.int(in: 0...100)),
      foodExhaustionLevel: random.float(in: 0...4), foodSaturationLevel: random.float(in: 0...20),
      foodTickTimer: UInt32(random.int(in: 0...80)), xpLevel: UInt32(random.int(in: 0...100)),
      xpProgress: random.float(in: 0...1), xpTotal: Int32(random.int(in: 0...100_000)),
      xpSeed: Int32(truncatingIfNeeded: random.next()), inventory: random.array(0...36) { .make(&$0) },
      enderItems: random.array(0...27) { .make(&$0) }, abilities: .make(&random),
      enteredNetherPosition: random.maybe(0.3) { .make(2000, &$0) }, position: .make(50_000, &random),
      motion: .make(1, &random), rotation: .make(&random), fallDistance: random.float(in: 0...10),
      fire: UInt16(random.int(in: 0...300)), uuid: uuid(&random),
      rootVehicle: random.maybe(0.2) { Vehicle(uuid: uuid(&$0), entity: .make(&$0)) },
      shoulderEntityLeft: random.maybe(0.2) { .make(&$0) },
      shoulderEntityRight: random.maybe(0.2) { .make(&$0) },
      seenCredits: random.chance(0.5), recipeBook: .make(&random))
  }

  /// An identifier as the game writes it: four numbers.
  fileprivate static func uuid(_ random: inout RandomSource) -> [UInt32] {
    random.array(count: 4) { UInt32(truncatingIfNeeded: $0.next()) }
  }

  private static let dimensions = ["minecraft:overworld", "minecraft:the_nether", "minecraft:the_end"]

  fileprivate static let things = [
    "dirt", "stone", "pickaxe", "sand", "gravel", "shovel", "chestplate", "steak", "torch", "oak_planks",
    "iron_ingot", "bow", "arrow", "bread", "bucket", "cobblestone", "furnace", "ladder", "map", "compass",
  ].map { "minecraft:" + $0 }

  fileprivate static let creatures = [
    "cow", "sheep", "zombie", "skeleton", "spider", "creeper", "parrot", "bee", "horse", "boat", "minecart",
  ].map { "minecraft:" + $0 }
}

extension Player.Item {
  /// A stack of one of the things.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    Self(count: Int8(random.int(in: 1...64)), slot: UInt8(random.int(in: 0...35)), id: random.pick(Player.things))
  }
}

extension Player.Abilities {
  /// Random abilities.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    Self(
      walkSpeed: random.float(in: 0...1), flySpeed: random.float(in: 0...1), mayFly: random.chance(0.5),
      flying: random.chance(0.5), invulnerable: random.chance(0.5), mayBuild: random.chance(0.5),
      instabuild: random.chance(0.5))
  }
}

extension Player.Entity {
  /// One of the creatures, anywhere.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    Self(
      id: random.pick(Player.creatures), position: .make(50_000, &random), motion: .make(1, &random),
      rotation: .make(&random), fallDistance: random.float(in: 0...10), fire: UInt16(random.int(in: 0...300)),
      air: UInt16(random.int(in: 0...300)), onGround: random.chance(0.5), noGravity: random.chance(0.5),
      invulnerable: random.chance(0.5), portalCooldown: Int32(random.int(in: 0...300)),
      uuid: Player.uuid(&random),
      customName: random.maybe(0.3) { $0.pick(Vocabulary.firstNames) }, customNameVisible: random.chance(0.5),
      silent: random.chance(0.5), glowing: random.chance(0.5))
  }
}

extension Player.RecipeBook {
  /// Some recipes, and random switches.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    Self(
      recipes: random.array(0...30) { $0.pick(Player.things) },
      toBeDisplayed: random.array(0...10) { $0.pick(Player.things) },
      isFilteringCraftable: random.chance(0.5), isGUIOpen: random.chance(0.5),
      isFurnaceFilteringCraftable: random.chance(0.5), isFurnaceGUIOpen: random.chance(0.5),
      isBlastingFurnaceFilteringCraftable: random.chance(0.5), isBlastingFurnaceGUIOpen: random.chance(0.5),
      isSmokerFilteringCraftable: random.chance(0.5), isSmokerGUIOpen: random.chance(0.5))
  }
}

extension Triple {
  /// A vector no longer than `reach` along each axis.
  fileprivate static func make(_ reach: Double, _ random: inout RandomSource) -> Self {
    Self(
      x: random.double(in: -reach...reach), y: random.double(in: -reach...reach),
      z: random.double(in: -reach...reach)
    )
  }
}

extension Rotation {
  /// Any direction.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    Self(yaw: random.float(in: -180...180), pitch: random.float(in: -90...90))
  }
}

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
  private static func int16(_ random: inout RandomSource) -> Int16 { Int16(truncatingIfNeeded: random.next()) }
}

extension GameUpdate.TerrainChunk {
  /// A square of random heights.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    Self(
      x: Int8(random.int(in: -32...32)), y: Int8(random.int(in: -32...32)),
      heights: Data(random.array(count: 64) { UInt8(truncatingIfNeeded: $0.next()) }))
  }
}
