import Foundation
import Hummingbird
import Stow

/// Reads the format that `Content-Type` names, and answers in the one that `Accept` asks for.
struct NegotiatingCoder: RequestDecoder, ResponseEncoder {
  func decode<T: Decodable>(
    _ type: T.Type, from request: Request, context: some RequestContext
  ) async throws -> T {
    switch BodyFormat(contentType: request.headers[.contentType]) {
    case .stow:
      let body = try await request.body.collect(upTo: context.maxUploadSize)
      return try body.withUnsafeReadableBytes { try StowDecoder().decode(type, from: $0) }
    case .json:
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .iso8601
      return try await decoder.decode(type, from: request, context: context)
    case nil:
      throw HTTPError(.unsupportedMediaType)
    }
  }

  func encode(
    _ value: some Encodable, from request: Request, context: some RequestContext
  ) throws -> Response {
    var response: Response
    switch BodyFormat(accept: request.headers[.accept]) {
    case .stow:
      let body = try StowEncoder().withEncoded(value) { ByteBuffer(bytes: $0) }
      response = Response(
        status: .ok, headers: [.contentType: "application/x-stow"], body: ResponseBody(byteBuffer: body))
    case .json:
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .iso8601
      response = try encoder.encode(value, from: request, context: context)
    }
    response.headers[.vary] = "Accept"
    return response
  }
}

enum BodyFormat: String {
  case json = "application/json"
  case stow = "application/x-stow"

  /// The format of a request: JSON if the client does not say, and nil if it is another one.
  init?(contentType: String?) {
    guard let contentType else {
      self = .json
      return
    }
    self.init(rawValue: MediaRange(contentType).type)
  }

  /// The format of a response: Stow if the client names it and does not prefer JSON, and otherwise JSON.
  init(accept: String?) {
    let ranges = (accept ?? "").split(separator: ",").map(MediaRange.init)
    func quality(_ names: String...) -> Double {
      names.lazy.compactMap { name in ranges.first { $0.type == name } }.first?.quality ?? 0
    }
    let stow = quality("application/x-stow")
    self = stow > 0 && stow >= quality("application/json", "application/*", "*/*") ? .stow : .json
  }
}

/// A part of `Accept`, as `application/json;q=0.5`.
struct MediaRange {
  let type: String
  let quality: Double

  init(_ text: some StringProtocol) {
    let parts = text.lowercased().split(separator: ";").map { $0.filter { !$0.isWhitespace } }
    type = parts.first ?? ""
    quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
  }
}

// snippet: hummingbird
struct AppRequestContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  init(source: Source) { coreContext = .init(source: source) }

  /// The most bytes that a request may have.
  var maxUploadSize: Int { 1 << 20 }
  var requestDecoder: NegotiatingCoder { NegotiatingCoder() }
  var responseEncoder: NegotiatingCoder { NegotiatingCoder() }
}
// end
