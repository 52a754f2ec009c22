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
