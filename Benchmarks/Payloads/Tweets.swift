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

    private enum CodingKeys: String, CodingKey {
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

  private enum CodingKeys: String, CodingKey {
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

    private enum CodingKeys: String, CodingKey {
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

  private enum CodingKeys: String, CodingKey {
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
final class Boxed<Value: Codable & Equatable & Sendable>: Codable, Equatable, Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }

  init(from decoder: any Decoder) throws { value = try Value(from: decoder) }

  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

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

    private enum CodingKeys: String, CodingKey {
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

    private enum CodingKeys: String, CodingKey {
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

      private enum CodingKeys: String, CodingKey {
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

    private enum CodingKeys: String, CodingKey {
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

  private enum CodingKeys: String, CodingKey {
    case hashtags, symbols, urls, media
    case userMentions = "user_mentions"
  }
}
