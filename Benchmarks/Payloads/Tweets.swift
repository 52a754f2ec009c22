/// A page of search results, shaped like twitter.json: many fields, many of them absent, much repeated text.
struct SearchResult: Codable, Equatable, Sendable {
  /// How the search went.
  struct Metadata: Codable, Equatable, Sendable {
    var completedIn: Double
    var maxID: Int
    var maxIDString: String
    var nextResults: String
    var query: String
    var refreshURL: String
    var count: Int
    var sinceID: Int
    var sinceIDString: String

    enum CodingKeys: String, CodingKey {
      case query, count
      case completedIn = "completed_in"
      case maxID = "max_id"
      case maxIDString = "max_id_str"
      case nextResults = "next_results"
      case refreshURL = "refresh_url"
      case sinceID = "since_id"
      case sinceIDString = "since_id_str"
    }
  }

  var statuses: [Tweet]
  var searchMetadata: Metadata

  enum CodingKeys: String, CodingKey {
    case statuses
    case searchMetadata = "search_metadata"
  }
}

/// One tweet.
struct Tweet: Codable, Equatable, Sendable {
  /// How the tweet was found.
  struct Metadata: Codable, Equatable, Sendable {
    var resultType: String
    var isoLanguageCode: String

    enum CodingKeys: String, CodingKey {
      case resultType = "result_type"
      case isoLanguageCode = "iso_language_code"
    }
  }

  var metadata: Metadata
  var createdAt: String
  var id: Int
  var idString: String
  var text: String
  var source: String
  var truncated: Bool
  var inReplyToStatusID: Int?
  var inReplyToUserID: Int?
  var inReplyToScreenName: String?
  var user: TwitterUser
  var retweetedStatus: Boxed<Tweet>?
  var retweetCount: Int
  var favoriteCount: Int
  var entities: TweetEntities
  var favorited: Bool
  var retweeted: Bool
  var possiblySensitive: Bool?
  var language: String

  enum CodingKeys: String, CodingKey {
    case metadata, id, text, source, truncated, user, entities, favorited, retweeted
    case createdAt = "created_at"
    case idString = "id_str"
    case inReplyToStatusID = "in_reply_to_status_id"
    case inReplyToUserID = "in_reply_to_user_id"
    case inReplyToScreenName = "in_reply_to_screen_name"
    case retweetedStatus = "retweeted_status"
    case retweetCount = "retweet_count"
    case favoriteCount = "favorite_count"
    case possiblySensitive = "possibly_sensitive"
    case language = "lang"
  }
}

/// A value behind a reference, written as the value itself: what lets a struct contain its like.
final class Boxed<Value: Codable & Sendable>: Codable, Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }

  init(from decoder: any Decoder) throws { value = try Value(from: decoder) }

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}

extension Boxed: Equatable where Value: Equatable {
  static func == (left: Boxed, right: Boxed) -> Bool { left.value == right.value }
}

/// What a tweet's text refers to.
struct TweetEntities: Codable, Equatable, Sendable {
  /// A word after `#`.
  struct Hashtag: Codable, Equatable, Sendable {
    var text: String
    var indices: [Int]
  }

  /// A link.
  struct Link: Codable, Equatable, Sendable {
    var url: String
    var expandedURL: String
    var displayURL: String
    var indices: [Int]

    enum CodingKeys: String, CodingKey {
      case url, indices
      case expandedURL = "expanded_url"
      case displayURL = "display_url"
    }
  }

  /// A user named in the text.
  struct Mention: Codable, Equatable, Sendable {
    var screenName: String
    var name: String
    var id: Int
    var idString: String
    var indices: [Int]

    enum CodingKeys: String, CodingKey {
      case name, id, indices
      case screenName = "screen_name"
      case idString = "id_str"
    }
  }

  /// A picture.
  struct Media: Codable, Equatable, Sendable {
    /// A size the picture is served in.
    struct Size: Codable, Equatable, Sendable {
      var width: Int
      var height: Int
      var resize: String

      enum CodingKeys: String, CodingKey {
        case resize
        case width = "w"
        case height = "h"
      }
    }

    var id: Int
    var idString: String
    var indices: [Int]
    var mediaURL: String
    var url: String
    var displayURL: String
    var type: String
    var sizes: [String: Size]

    enum CodingKeys: String, CodingKey {
      case id, indices, url, type, sizes
      case idString = "id_str"
      case mediaURL = "media_url"
      case displayURL = "display_url"
    }
  }

  var hashtags: [Hashtag]
  var symbols: [String]
  var urls: [Link]
  var userMentions: [Mention]
  var media: [Media]?

  enum CodingKeys: String, CodingKey {
    case hashtags, symbols, urls, media
    case userMentions = "user_mentions"
  }
}

extension SearchResult {
  /// A page of as many tweets as asked.
  static func make(count: Int) -> SearchResult {
    var random = RandomSource(seed: 21)
    let tweets = random.array(count: count) { Tweet.make(mayRetweet: true, &$0) }
    let last = tweets[count - 1].idString
    return SearchResult(
      statuses: tweets,
      searchMetadata: Metadata(
        completedIn: 0.087, maxID: tweets[0].id, maxIDString: tweets[0].idString,
        nextResults: "?max_id=\(last)&q=stow&count=\(count)&include_entities=1", query: "stow",
        refreshURL: "?since_id=\(last)&q=stow&include_entities=1", count: count, sinceID: 0,
        sinceIDString: "0"))
  }
}

extension Tweet {
  /// One tweet, which may repeat another.
  fileprivate static func make(mayRetweet: Bool, _ random: inout RandomSource) -> Tweet {
    let id = 505_874_000_000_000_000 + random.int(in: 0...999_999_999_999)
    let language = random.pick(["ja", "ja", "ja", "en", "zh"])
    let retweeted = mayRetweet && random.chance(0.4) ? Boxed(make(mayRetweet: false, &random)) : nil
    let isReply = random.chance(0.3)
    return Tweet(
      metadata: Metadata(resultType: "recent", isoLanguageCode: language), createdAt: date(2014, &random),
      id: id,
      idString: String(id), text: text(&random), source: random.pick(sources), truncated: false,
      inReplyToStatusID: isReply ? id - random.int(in: 1...999_999_999) : nil,
      inReplyToUserID: isReply ? random.int(in: 1_000_000...2_000_000_000) : nil,
      inReplyToScreenName: isReply ? random.pick(Vocabulary.lastNames) + random.hex(3) : nil,
      user: .make(&random), retweetedStatus: retweeted,
      retweetCount: retweeted == nil ? 0 : random.int(in: 1...2000), favoriteCount: random.int(in: 0...30),
      entities: .make(&random), favorited: false, retweeted: false,
      possiblySensitive: random.maybe(0.3) { $0.chance(0.1) }, language: language)
  }

  /// A moment as Twitter writes it.
  fileprivate static func date(_ year: Int, _ random: inout RandomSource) -> String {
    let day = random.pick(["Sun Aug 31", "Sat Feb 16", "Mon Jun 02", "Thu Nov 21", "Wed Jan 08"])
    return "\(day) 00:\(random.int(in: 10...59)):\(random.int(in: 10...59)) +0000 \(year)"
  }

  /// Some sentences, half of them not English.
  private static func text(_ random: inout RandomSource) -> String {
    random.array(1...4) { $0.chance(0.5) ? $0.pick(phrases) : $0.sentence(3...8) }.joined(separator: " ")
  }

  fileprivate static let phrases = [
    "今日はいい天気ですね😊", "名前と第一印象を教えてください", "ありがとうございます❤️", "一緒に行きましょう！",
    "新しい写真をアップしました📷", "おはようございます☀️", "明日も頑張ります💪", "天气很好，我们去公园吧",
  ]

  private static let sources = [
    "<a href=\"http://twitter.com/download/iphone\" rel=\"nofollow\">Twitter for iPhone</a>",
    "<a href=\"http://twitter.com/download/android\" rel=\"nofollow\">Twitter for Android</a>",
    "<a href=\"http://twitter.com\" rel=\"nofollow\">Twitter Web Client</a>",
    "<a href=\"http://twittbot.net/\" rel=\"nofollow\">twittbot.net</a>",
  ]
}

extension TwitterUser {
  /// One of many users, with the colours most of them leave as they are.
  fileprivate static func make(_ random: inout RandomSource) -> TwitterUser {
    let id = random.int(in: 1_000_000...2_800_000_000)
    let name = random.pick(Vocabulary.firstNames)
    let image = "http://pbs.twimg.com/profile_images/\(random.int(in: 1 << 58...1 << 59))/\(random.hex(8))_normal.jpeg"
    let hasOwnColours = random.chance(0.4)
    return TwitterUser(
      id: id, idString: String(id), name: name, screenName: name.lowercased() + random.hex(4),
      location: random.chance(0.5) ? random.pick(Vocabulary.cities) : "",
      description: random.chance(0.5) ? random.pick(Tweet.phrases) : random.sentence(0...12),
      url: random.maybe(0.2) { "http://t.co/\($0.hex(10))" }, protected: false,
      followersCount: random.int(in: 0...5000), friendsCount: random.int(in: 0...3000),
      listedCount: random.int(in: 0...60), createdAt: Tweet.date(random.int(in: 2009...2014), &random),
      favouritesCount: random.int(in: 0...20_000),
      utcOffset: random.maybe(0.4) { $0.pick([32400, -25200, 0]) },
      timeZone: random.maybe(0.4) { $0.pick(["Tokyo", "Irkutsk", "Arizona", "Pacific Time (US & Canada)"]) },
      geoEnabled: random.chance(0.3), verified: false, statusesCount: random.int(in: 1...90_000),
      language: random.pick(["ja", "ja", "en"]), contributorsEnabled: false, isTranslator: false,
      profileBackgroundColor: hasOwnColours ? random.hex(6) : "C0DEED",
      profileBackgroundImageURL: "http://abs.twimg.com/images/themes/theme\(random.int(in: 1...19))/bg.png",
      profileBackgroundTile: random.chance(0.2), profileImageURL: image,
      profileBannerURL: random.maybe(0.7) {
        "https://pbs.twimg.com/profile_banners/\(id)/\($0.int(in: 1...1 << 31))"
      },
      profileLinkColor: hasOwnColours ? random.hex(6) : "0084B4",
      profileSidebarBorderColor: hasOwnColours ? "FFFFFF" : "C0DEED",
      profileSidebarFillColor: hasOwnColours ? random.hex(6) : "DDEEF6", profileTextColor: "333333",
      profileUseBackgroundImage: true, defaultProfile: !hasOwnColours, defaultProfileImage: false,
      following: false, followRequestSent: false, notifications: false)
  }
}

extension TweetEntities {
  /// A few hashtags, links, mentions and pictures.
  fileprivate static func make(_ random: inout RandomSource) -> TweetEntities {
    TweetEntities(
      hashtags: random.array(0...1) { Hashtag(text: $0.pick(Vocabulary.words), indices: indices(&$0)) },
      symbols: [], urls: random.array(0...1) { .make(&$0) }, userMentions: random.array(0...2) { .make(&$0) },
      media: random.maybe(0.15) { [.make(&$0)] })
  }

  /// The span of text an entity takes.
  fileprivate static func indices(_ random: inout RandomSource) -> [Int] {
    let start = random.int(in: 0...100)
    return [start, start + random.int(in: 3...22)]
  }
}

extension TweetEntities.Link {
  /// A shortened link.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    let page = "example.com/\(random.pick(Vocabulary.words))/\(random.int(in: 1...9999))"
    return Self(
      url: "http://t.co/\(random.hex(10))", expandedURL: "http://" + page, displayURL: page,
      indices: TweetEntities.indices(&random))
  }
}

extension TweetEntities.Mention {
  /// A mention of some user.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    let id = random.int(in: 1_000_000...2_800_000_000)
    let name = random.pick(Vocabulary.firstNames)
    return Self(
      screenName: name.lowercased() + random.hex(3), name: name, id: id, idString: String(id),
      indices: TweetEntities.indices(&random))
  }
}

extension TweetEntities.Media {
  /// A photograph in the sizes Twitter serves.
  fileprivate static func make(_ random: inout RandomSource) -> Self {
    let id = 505_874_000_000_000_000 + random.int(in: 0...999_999_999_999)
    let link = random.hex(10)
    return Self(
      id: id, idString: String(id), indices: TweetEntities.indices(&random),
      mediaURL: "http://pbs.twimg.com/media/\(random.hex(15)).jpg", url: "http://t.co/\(link)",
      displayURL: "pic.twitter.com/\(link)", type: "photo",
      sizes: [
        "small": Size(width: 340, height: random.int(in: 200...400), resize: "fit"),
        "medium": Size(width: 600, height: random.int(in: 400...700), resize: "fit"),
        "thumb": Size(width: 150, height: 150, resize: "crop"),
        "large": Size(width: 1024, height: random.int(in: 500...1100), resize: "fit"),
      ])
  }
}

/// Who wrote a tweet.
struct TwitterUser: Codable, Equatable, Sendable {
  var id: Int
  var idString: String
  var name: String
  var screenName: String
  var location: String
  var description: String
  var url: String?
  var protected: Bool
  var followersCount: Int
  var friendsCount: Int
  var listedCount: Int
  var createdAt: String
  var favouritesCount: Int
  var utcOffset: Int?
  var timeZone: String?
  var geoEnabled: Bool
  var verified: Bool
  var statusesCount: Int
  var language: String
  var contributorsEnabled: Bool
  var isTranslator: Bool
  var profileBackgroundColor: String
  var profileBackgroundImageURL: String
  var profileBackgroundTile: Bool
  var profileImageURL: String
  var profileBannerURL: String?
  var profileLinkColor: String
  var profileSidebarBorderColor: String
  var profileSidebarFillColor: String
  var profileTextColor: String
  var profileUseBackgroundImage: Bool
  var defaultProfile: Bool
  var defaultProfileImage: Bool
  var following: Bool
  var followRequestSent: Bool
  var notifications: Bool

  enum CodingKeys: String, CodingKey {
    case id, name, location, description, url, protected, verified, following, notifications
    case idString = "id_str"
    case screenName = "screen_name"
    case followersCount = "followers_count"
    case friendsCount = "friends_count"
    case listedCount = "listed_count"
    case createdAt = "created_at"
    case favouritesCount = "favourites_count"
    case utcOffset = "utc_offset"
    case timeZone = "time_zone"
    case geoEnabled = "geo_enabled"
    case statusesCount = "statuses_count"
    case language = "lang"
    case contributorsEnabled = "contributors_enabled"
    case isTranslator = "is_translator"
    case profileBackgroundColor = "profile_background_color"
    case profileBackgroundImageURL = "profile_background_image_url"
    case profileBackgroundTile = "profile_background_tile"
    case profileImageURL = "profile_image_url"
    case profileBannerURL = "profile_banner_url"
    case profileLinkColor = "profile_link_color"
    case profileSidebarBorderColor = "profile_sidebar_border_color"
    case profileSidebarFillColor = "profile_sidebar_fill_color"
    case profileTextColor = "profile_text_color"
    case profileUseBackgroundImage = "profile_use_background_image"
    case defaultProfile = "default_profile"
    case defaultProfileImage = "default_profile_image"
    case followRequestSent = "follow_request_sent"
  }
}
