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
    Self(
      count: Int8(random.int(in: 1...64)), slot: UInt8(random.int(in: 0...35)), id: random.pick(Player.things)
    )
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
