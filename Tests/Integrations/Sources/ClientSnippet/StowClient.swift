// snippet: async-http-client
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Stow

struct StowClient {
  var client = HTTPClient.shared
  /// The most bytes that an answer may have.
  var maximumLength = 1 << 20

  struct UnexpectedAnswer: Error {
    let status: HTTPResponseStatus
    let contentType: String?
  }

  func get<Answer: Decodable>(_ type: Answer.Type, from url: String) async throws -> Answer {
    try await answer(type, to: HTTPClientRequest(url: url))
  }

  func post<Answer: Decodable>(
    _ value: some Encodable, to url: String, for type: Answer.Type
  ) async throws -> Answer {
    var request = HTTPClientRequest(url: url)
    request.method = .POST
    request.headers.add(name: "Content-Type", value: "application/x-stow")
    request.body = .bytes(try StowEncoder().withEncoded(value) { ByteBuffer(bytes: $0) })
    return try await answer(type, to: request)
  }

  private func answer<Answer: Decodable>(
    _ type: Answer.Type, to request: HTTPClientRequest
  ) async throws -> Answer {
    var request = request
    request.headers.add(name: "Accept", value: "application/x-stow")
    let response = try await client.execute(request, timeout: .seconds(30))
    let contentType = response.headers.first(name: "Content-Type")
    guard response.status == .ok, contentType == "application/x-stow" else {
      throw UnexpectedAnswer(status: response.status, contentType: contentType)
    }
    let body = try await response.body.collect(upTo: maximumLength)
    return try body.withUnsafeReadableBytes { try StowDecoder().decode(type, from: $0) }
  }
}
// end
