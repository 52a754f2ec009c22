import Foundation
import Stow

// The types of payloads again, with tables of fields. Their values are decoded from the messages of the others.

struct TabledPoint: StowFields, Sendable {
  var x, y, z: Double

  static let stowFields = FieldTable(TabledPoint.init, Field("x", \.x), Field("y", \.y), Field("z", \.z))
}

struct TabledSmall: StowFields, Sendable {
  var id: Int
  var name: String
  var flag: Bool
  var value: Double
  var note: String?

  static let stowFields = FieldTable(
    TabledSmall.init, Field("id", \.id), Field("name", \.name), Field("flag", \.flag),
    Field("value", \.value), Field("note", \.note))
}

struct TabledPerson: StowFields, Sendable {
  struct Address: StowFields, Sendable {
    var street, city, zip, country: String
    var latitude, longitude: Double

    static let stowFields = FieldTable(
      Address.init, Field("street", \.street), Field("city", \.city), Field("zip", \.zip),
      Field("country", \.country), Field("latitude", \.latitude), Field("longitude", \.longitude))
  }

  var id: Int
  var firstName, lastName, email: String
  var age: Int
  var isActive: Bool
  var balance: Double
  var gender: Person.Gender
  var address: Address
  var tags: [String]
  var nickname, phone: String?
  var managerID: Int?
  var score: Double?

  static let stowFields = FieldTable(
    TabledPerson.init, Field("id", \.id), Field("firstName", \.firstName), Field("lastName", \.lastName),
    Field("email", \.email), Field("age", \.age), Field("isActive", \.isActive), Field("balance", \.balance),
    Field("gender", \.gender), Field("address", \.address), Field("tags", \.tags),
    Field("nickname", \.nickname), Field("phone", \.phone), Field("managerID", \.managerID),
    Field("score", \.score))
}

struct TabledSparsePerson: StowFields, Sendable {
  var id: Int
  var firstName, lastName, email: String?
  var age: Int?
  var isActive: Bool?
  var balance: Double?
  var gender: Person.Gender?
  var address: TabledPerson.Address?
  var tags: [String]?
  var nickname, phone: String?
  var managerID: Int?
  var score: Double?

  static let stowFields = FieldTable(
    TabledSparsePerson.init, Field("id", \.id), Field("firstName", \.firstName),
    Field("lastName", \.lastName), Field("email", \.email), Field("age", \.age),
    Field("isActive", \.isActive), Field("balance", \.balance), Field("gender", \.gender),
    Field("address", \.address), Field("tags", \.tags), Field("nickname", \.nickname),
    Field("phone", \.phone), Field("managerID", \.managerID), Field("score", \.score))
}

struct TabledCell: StowFields, Sendable {
  var terrain: Cell.Terrain
  var owner: Cell.Owner
  var height: Int16
  var moisture: UInt8
  var temperature: Int8
  var population: UInt16
  var resources: UInt32
  var visits: Int
  var unit: UInt8?

  static let stowFields = FieldTable(
    TabledCell.init, Field("terrain", \.terrain), Field("owner", \.owner), Field("height", \.height),
    Field("moisture", \.moisture), Field("temperature", \.temperature), Field("population", \.population),
    Field("resources", \.resources), Field("visits", \.visits), Field("unit", \.unit))
}

final class TabledNode: StowFields, @unchecked Sendable {
  var name: String
  var value: Int
  var children: [TabledNode]

  init(name: String, value: Int, children: [TabledNode]) {
    (self.name, self.value, self.children) = (name, value, children)
  }

  static let stowFields = FieldTable(
    TabledNode.init, Field("name", \.name), Field("value", \.value), Field("children", \.children))
}

struct TabledBranch: StowFields, Sendable {
  var name: String
  var value: Int
  var children: [TabledBranch]

  static let stowFields = FieldTable(
    TabledBranch.init, Field("name", \.name), Field("value", \.value), Field("children", \.children))
}

struct TabledEvent: StowFields, Sendable {
  var id: UUID
  var timestamp: Date
  var level: Event.Level
  var source, message: String
  var attributes: [String: String]
  var url: URL?
  var durationMilliseconds: Double?

  static let stowFields = FieldTable(
    TabledEvent.init, Field("id", \.id), Field("timestamp", \.timestamp), Field("level", \.level),
    Field("source", \.source), Field("message", \.message), Field("attributes", \.attributes),
    Field("url", \.url), Field("durationMilliseconds", \.durationMilliseconds))
}

struct TabledLogEntry: StowFields, Sendable {
  struct Address: StowFields, Sendable {
    var x0, x1, x2, x3: UInt8

    static let stowFields = FieldTable(
      Address.init, Field("x0", \.x0), Field("x1", \.x1), Field("x2", \.x2), Field("x3", \.x3))
  }

  var address: Address
  var identity, userid, date, request: String
  var code: UInt16
  var size: UInt64

  static let stowFields = FieldTable(
    TabledLogEntry.init, Field("address", \.address), Field("identity", \.identity),
    Field("userid", \.userid), Field("date", \.date), Field("request", \.request), Field("code", \.code),
    Field("size", \.size))
}

struct TabledMesh: StowFields, Sendable {
  struct Vector: StowFields, Sendable {
    var x, y, z: Float

    static let stowFields = FieldTable(Vector.init, Field("x", \.x), Field("y", \.y), Field("z", \.z))
  }

  struct Triangle: StowFields, Sendable {
    var v0, v1, v2, normal: Vector

    static let stowFields = FieldTable(
      Triangle.init, Field("v0", \.v0), Field("v1", \.v1), Field("v2", \.v2), Field("normal", \.normal))
  }

  var triangles: [Triangle]

  static let stowFields = FieldTable(TabledMesh.init, Field("triangles", \.triangles))
}

struct TabledPlayer: StowFields, Sendable {
  struct Item: StowFields, Sendable {
    var count: Int8
    var slot: UInt8
    var id: String

    static let stowFields = FieldTable(Item.init, Field("count", \.count), Field("slot", \.slot), Field("id", \.id))
  }

  struct Abilities: StowFields, Sendable {
    var walkSpeed, flySpeed: Float
    var mayFly, flying, invulnerable, mayBuild, instabuild: Bool

    static let stowFields = FieldTable(
      Abilities.init, Field("walkSpeed", \.walkSpeed), Field("flySpeed", \.flySpeed),
      Field("mayFly", \.mayFly), Field("flying", \.flying), Field("invulnerable", \.invulnerable),
      Field("mayBuild", \.mayBuild), Field("instabuild", \.instabuild))
  }

  struct Entity: StowFields, Sendable {
    var id: String
    var position, motion: Triple
    var rotation: Rotation
    var fallDistance: Float
    var fire, air: UInt16
    var onGround, noGravity, invulnerable: Bool
    var portalCooldown: Int32
    var uuid: [UInt32]
    var customName: String?
    var customNameVisible, silent, glowing: Bool

    static let stowFields = FieldTable(
      Entity.init, Field("id", \.id), Field("position", \.position), Field("motion", \.motion),
      Field("rotation", \.rotation), Field("fallDistance", \.fallDistance), Field("fire", \.fire),
      Field("air", \.air), Field("onGround", \.onGround), Field("noGravity", \.noGravity),
      Field("invulnerable", \.invulnerable), Field("portalCooldown", \.portalCooldown), Field("uuid", \.uuid),
      Field("customName", \.customName), Field("customNameVisible", \.customNameVisible),
      Field("silent", \.silent), Field("glowing", \.glowing))
  }

  struct Vehicle: StowFields, Sendable {
    var uuid: [UInt32]
    var entity: Entity

    static let stowFields = FieldTable(Vehicle.init, Field("uuid", \.uuid), Field("entity", \.entity))
  }

  struct RecipeBook: StowFields, Sendable {
    var recipes, toBeDisplayed: [String]
    var isFilteringCraftable, isGUIOpen, isFurnaceFilteringCraftable, isFurnaceGUIOpen,
      isBlastingFurnaceFilteringCraftable, isBlastingFurnaceGUIOpen, isSmokerFilteringCraftable,
      isSmokerGUIOpen: Bool

    static let stowFields = FieldTable(
      RecipeBook.init, Field("recipes", \.recipes), Field("toBeDisplayed", \.toBeDisplayed),
      Field("isFilteringCraftable", \.isFilteringCraftable), Field("isGUIOpen", \.isGUIOpen),
      Field("isFurnaceFilteringCraftable", \.isFurnaceFilteringCraftable),
      Field("isFurnaceGUIOpen", \.isFurnaceGUIOpen),
      Field("isBlastingFurnaceFilteringCraftable", \.isBlastingFurnaceFilteringCraftable),
      Field("isBlastingFurnaceGUIOpen", \.isBlastingFurnaceGUIOpen),
      Field("isSmokerFilteringCraftable", \.isSmokerFilteringCraftable),
      Field("isSmokerGUIOpen", \.isSmokerGUIOpen))
  }

  var gameType, previousGameType: Player.GameType
  var score: Int64
  var dimension: String
  var selectedItemSlot: UInt32
  var selectedItem: Item
  var spawnDimension: String?
  var spawnX, spawnY, spawnZ: Int64
  var spawnForced: Bool?
  var sleepTimer: UInt16
  var foodExhaustionLevel, foodSaturationLevel: Float
  var foodTickTimer, xpLevel: UInt32
  var xpProgress: Float
  var xpTotal, xpSeed: Int32
  var inventory, enderItems: [Item]
  var abilities: Abilities
  var enteredNetherPosition: Triple?
  var position, motion: Triple
  var rotation: Rotation
  var fallDistance: Float
  var fire: UInt16
  var uuid: [UInt32]
  var rootVehicle: Vehicle?
  var shoulderEntityLeft, shoulderEntityRight: Entity?
  var seenCredits: Bool
  var recipeBook: RecipeBook

  static let stowFields = FieldTable(
    TabledPlayer.init, Field("gameType", \.gameType), Field("previousGameType", \.previousGameType),
    Field("score", \.score), Field("dimension", \.dimension), Field("selectedItemSlot", \.selectedItemSlot),
    Field("selectedItem", \.selectedItem), Field("spawnDimension", \.spawnDimension),
    Field("spawnX", \.spawnX), Field("spawnY", \.spawnY), Field("spawnZ", \.spawnZ),
    Field("spawnForced", \.spawnForced), Field("sleepTimer", \.sleepTimer),
    Field("foodExhaustionLevel", \.foodExhaustionLevel), Field("foodSaturationLevel", \.foodSaturationLevel),
    Field("foodTickTimer", \.foodTickTimer), Field("xpLevel", \.xpLevel), Field("xpProgress", \.xpProgress),
    Field("xpTotal", \.xpTotal), Field("xpSeed", \.xpSeed), Field("inventory", \.inventory),
    Field("enderItems", \.enderItems), Field("abilities", \.abilities),
    Field("enteredNetherPosition", \.enteredNetherPosition), Field("position", \.position),
    Field("motion", \.motion), Field("rotation", \.rotation), Field("fallDistance", \.fallDistance),
    Field("fire", \.fire), Field("uuid", \.uuid), Field("rootVehicle", \.rootVehicle),
    Field("shoulderEntityLeft", \.shoulderEntityLeft), Field("shoulderEntityRight", \.shoulderEntityRight),
    Field("seenCredits", \.seenCredits), Field("recipeBook", \.recipeBook))
}

struct TabledGameUpdate: StowFields, Sendable {
  struct Guidance: StowFields, Sendable {
    var directionTarget, velocityTarget: Int16

    static let stowFields = FieldTable(
      Guidance.init, Field("directionTarget", \.directionTarget), Field("velocityTarget", \.velocityTarget))
  }

  struct Position: StowFields, Sendable {
    var x, y: Float

    static let stowFields = FieldTable(Position.init, Field("x", \.x), Field("y", \.y))
  }

  struct Transform: StowFields, Sendable {
    var altitude: Int8
    var angle: UInt16
    var position: Position
    var velocity: Int16

    static let stowFields = FieldTable(
      Transform.init, Field("altitude", \.altitude), Field("angle", \.angle), Field("position", \.position),
      Field("velocity", \.velocity))
  }

  struct Contact: StowFields, Sendable {
    var altitudeKnown: Bool
    var damage: UInt8
    var entityID: UInt32
    var entityType: GameUpdate.EntityType?
    var guidance: Guidance
    var playerID: UInt16?
    var reloads: [Bool]
    var transform: Transform
    var turretAngles: [Float]

    static let stowFields = FieldTable(
      Contact.init, Field("altitudeKnown", \.altitudeKnown), Field("damage", \.damage),
      Field("entityID", \.entityID), Field("entityType", \.entityType), Field("guidance", \.guidance),
      Field("playerID", \.playerID), Field("reloads", \.reloads), Field("transform", \.transform),
      Field("turretAngles", \.turretAngles))
  }

  struct TerrainChunk: StowFields, Sendable {
    var x, y: Int8
    var heights: Data

    static let stowFields = FieldTable(TerrainChunk.init, Field("x", \.x), Field("y", \.y), Field("heights", \.heights))
  }

  var contacts: [Contact]
  var score: UInt32
  var worldRadius: Float
  var terrain: [TerrainChunk]?

  static let stowFields = FieldTable(
    TabledGameUpdate.init, Field("contacts", \.contacts), Field("score", \.score),
    Field("worldRadius", \.worldRadius), Field("terrain", \.terrain))
}

struct TabledSearchResult: StowFields, Sendable {
  typealias CodingKeys = SearchResult.CodingKeys

  struct Metadata: StowFields, Sendable {
    typealias CodingKeys = SearchResult.Metadata.CodingKeys

    var query: String
    var count: Int
    var completedIn: Double
    var maxID: Int
    var maxIDString, nextResults, refreshURL: String
    var sinceID: Int
    var sinceIDString: String

    static let stowFields = FieldTable(
      Metadata.init, Field("query", \.query), Field("count", \.count), Field("completed_in", \.completedIn),
      Field("max_id", \.maxID), Field("max_id_str", \.maxIDString), Field("next_results", \.nextResults),
      Field("refresh_url", \.refreshURL), Field("since_id", \.sinceID),
      Field("since_id_str", \.sinceIDString))
  }

  var statuses: [TabledTweet]
  var searchMetadata: Metadata

  static let stowFields = FieldTable(
    TabledSearchResult.init, Field("statuses", \.statuses), Field("search_metadata", \.searchMetadata))
}

struct TabledTweet: StowFields, Sendable {
  typealias CodingKeys = Tweet.CodingKeys

  struct Metadata: StowFields, Sendable {
    typealias CodingKeys = Tweet.Metadata.CodingKeys

    var resultType, isoLanguageCode: String

    static let stowFields = FieldTable(
      Metadata.init, Field("result_type", \.resultType), Field("iso_language_code", \.isoLanguageCode))
  }

  var metadata: Metadata
  var id: Int
  var text, source: String
  var truncated: Bool
  var user: TabledUser
  var entities: TabledEntities
  var favorited, retweeted: Bool
  var createdAt, idString: String
  var inReplyToStatusID, inReplyToUserID: Int?
  var inReplyToScreenName: String?
  var retweetedStatus: Boxed<TabledTweet>?
  var retweetCount, favoriteCount: Int
  var possiblySensitive: Bool?
  var language: String

  static let stowFields = FieldTable(
    TabledTweet.init, Field("metadata", \.metadata), Field("id", \.id), Field("text", \.text),
    Field("source", \.source), Field("truncated", \.truncated), Field("user", \.user),
    Field("entities", \.entities), Field("favorited", \.favorited), Field("retweeted", \.retweeted),
    Field("created_at", \.createdAt), Field("id_str", \.idString),
    Field("in_reply_to_status_id", \.inReplyToStatusID), Field("in_reply_to_user_id", \.inReplyToUserID),
    Field("in_reply_to_screen_name", \.inReplyToScreenName), Field("retweeted_status", \.retweetedStatus),
    Field("retweet_count", \.retweetCount), Field("favorite_count", \.favoriteCount),
    Field("possibly_sensitive", \.possiblySensitive), Field("lang", \.language))
}

struct TabledEntities: StowFields, Sendable {
  typealias CodingKeys = TweetEntities.CodingKeys

  struct Hashtag: StowFields, Sendable {
    var text: String
    var indices: [Int]

    static let stowFields = FieldTable(Hashtag.init, Field("text", \.text), Field("indices", \.indices))
  }

  struct Link: StowFields, Sendable {
    typealias CodingKeys = TweetEntities.Link.CodingKeys

    var url: String
    var indices: [Int]
    var expandedURL, displayURL: String

    static let stowFields = FieldTable(
      Link.init, Field("url", \.url), Field("indices", \.indices), Field("expanded_url", \.expandedURL),
      Field("display_url", \.displayURL))
  }

  struct Mention: StowFields, Sendable {
    typealias CodingKeys = TweetEntities.Mention.CodingKeys

    var name: String
    var id: Int
    var indices: [Int]
    var screenName, idString: String

    static let stowFields = FieldTable(
      Mention.init, Field("name", \.name), Field("id", \.id), Field("indices", \.indices),
      Field("screen_name", \.screenName), Field("id_str", \.idString))
  }

  struct Media: StowFields, Sendable {
    typealias CodingKeys = TweetEntities.Media.CodingKeys

    struct Size: StowFields, Sendable {
      typealias CodingKeys = TweetEntities.Media.Size.CodingKeys

      var resize: String
      var width, height: Int

      static let stowFields = FieldTable(
        Size.init, Field("resize", \.resize), Field("w", \.width), Field("h", \.height))
    }

    var id: Int
    var indices: [Int]
    var url, type: String
    var sizes: [String: Size]
    var idString, mediaURL, displayURL: String

    static let stowFields = FieldTable(
      Media.init, Field("id", \.id), Field("indices", \.indices), Field("url", \.url), Field("type", \.type),
      Field("sizes", \.sizes), Field("id_str", \.idString), Field("media_url", \.mediaURL),
      Field("display_url", \.displayURL))
  }

  var hashtags: [Hashtag]
  var symbols: [String]
  var urls: [Link]
  var media: [Media]?
  var userMentions: [Mention]

  static let stowFields = FieldTable(
    TabledEntities.init, Field("hashtags", \.hashtags), Field("symbols", \.symbols), Field("urls", \.urls),
    Field("media", \.media), Field("user_mentions", \.userMentions))
}

struct TabledUser: StowFields, Sendable {
  typealias CodingKeys = TwitterUser.CodingKeys

  var id: Int
  var name, location, description: String
  var url: String?
  var protected, verified, following, notifications: Bool
  var idString, screenName: String
  var followersCount, friendsCount, listedCount: Int
  var createdAt: String
  var favouritesCount: Int
  var utcOffset: Int?
  var timeZone: String?
  var geoEnabled: Bool
  var statusesCount: Int
  var language: String
  var contributorsEnabled, isTranslator: Bool
  var profileBackgroundColor, profileBackgroundImageURL: String
  var profileBackgroundTile: Bool
  var profileImageURL: String
  var profileBannerURL: String?
  var profileLinkColor, profileSidebarBorderColor, profileSidebarFillColor, profileTextColor: String
  var profileUseBackgroundImage, defaultProfile, defaultProfileImage, followRequestSent: Bool

  static let stowFields = FieldTable(
    TabledUser.init, Field("id", \.id), Field("name", \.name), Field("location", \.location),
    Field("description", \.description), Field("url", \.url), Field("protected", \.protected),
    Field("verified", \.verified), Field("following", \.following), Field("notifications", \.notifications),
    Field("id_str", \.idString), Field("screen_name", \.screenName),
    Field("followers_count", \.followersCount), Field("friends_count", \.friendsCount),
    Field("listed_count", \.listedCount), Field("created_at", \.createdAt),
    Field("favourites_count", \.favouritesCount), Field("utc_offset", \.utcOffset),
    Field("time_zone", \.timeZone), Field("geo_enabled", \.geoEnabled),
    Field("statuses_count", \.statusesCount), Field("lang", \.language),
    Field("contributors_enabled", \.contributorsEnabled), Field("is_translator", \.isTranslator),
    Field("profile_background_color", \.profileBackgroundColor),
    Field("profile_background_image_url", \.profileBackgroundImageURL),
    Field("profile_background_tile", \.profileBackgroundTile), Field("profile_image_url", \.profileImageURL),
    Field("profile_banner_url", \.profileBannerURL), Field("profile_link_color", \.profileLinkColor),
    Field("profile_sidebar_border_color", \.profileSidebarBorderColor),
    Field("profile_sidebar_fill_color", \.profileSidebarFillColor),
    Field("profile_text_color", \.profileTextColor),
    Field("profile_use_background_image", \.profileUseBackgroundImage),
    Field("default_profile", \.defaultProfile), Field("default_profile_image", \.defaultProfileImage),
    Field("follow_request_sent", \.followRequestSent))
}
