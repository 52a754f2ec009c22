import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Stow
import Testing

@testable import ClientSnippet
@testable import HummingbirdSnippet

/// Asks a real server on loopback.
@Suite("A server with Hummingbird")
struct ServerTests {
  private static let people = Person.make(count: 20)

  private struct Answer {
    var status: HTTPResponseStatus
    var contentType: String?
    var headers: HTTPHeaders
    var body: [UInt8]

    func people() throws -> [Person] {
      contentType == "application/x-stow"
        ? try StowDecoder().decode([Person].self, from: body)
        : try jsonDecoder().decode([Person].self, from: Data(body))
    }
  }

  private static func jsonEncoder() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    return encoder
  }

  private static func jsonDecoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }

  /// Sends the bytes, in chunks if these have a size, or asks for people without any bytes.
  private static func ask(
    _ port: Int, _ bytes: Data? = nil, contentType: String? = nil, accept: [String] = [],
    chunkSize: Int? = nil
  ) async throws -> Answer {
    var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/people")
    if let bytes {
      request.method = .POST
      request.body = chunkSize.map { chunked(bytes, $0) } ?? .bytes(ByteBuffer(bytes: bytes))
    }
    if let contentType { request.headers.add(name: "Content-Type", value: contentType) }
    for value in accept { request.headers.add(name: "Accept", value: value) }
    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
    let body = try await response.body.collect(upTo: 1 << 24)
    return Answer(
      status: response.status,
      contentType: response.headers.first(name: "Content-Type").map { MediaRange($0).type },
      headers: response.headers, body: Array(body.readableBytesView))
  }

  /// A body whose length the server is not told.
  private static func chunked(_ bytes: Data, _ size: Int) -> HTTPClientRequest.Body {
    let chunks = stride(from: 0, to: bytes.count, by: size).map {
      ByteBuffer(bytes: bytes[$0..<min($0 + size, bytes.count)])
    }
    return .stream(
      AsyncStream { continuation in
        for chunk in chunks { continuation.yield(chunk) }
        continuation.finish()
      }, length: .unknown)
  }

  @Test(
    "reads the format that the request is of, whatever it is to answer in",
    arguments: ["application/json", "application/x-stow"], ["application/json", "application/x-stow"])
  func formats(sent: String, asked: String) async throws {
    let bytes =
      sent.hasSuffix("stow")
      ? try StowEncoder().encode(Self.people) : try Self.jsonEncoder().encode(Self.people)
    try await PeopleServer.run { port in
      let answer = try await Self.ask(port, bytes, contentType: sent, accept: [asked])
      #expect(answer.status == .ok && answer.contentType == asked)
      #expect(try answer.people() == Self.people)
    }
  }

  @Test("answers in the format that the client prefers, and in JSON if it names none")
  func accept() async throws {
    let expected: [([String], String)] = [
      ([], "json"), ([""], "json"), (["*/*"], "json"), (["application/*"], "json"), (["text/html"], "json"),
      (["application/json"], "json"), (["application/x-stow"], "x-stow"), (["APPLICATION/X-Stow"], "x-stow"),
      (["application/x-stow, */*"], "x-stow"), (["application/json, application/x-stow"], "x-stow"),
      (["application/x-stow;q=0.5, application/json;q=0.8"], "json"),
      (["application/x-stow; q=0.8 , application/json ; q=0.5"], "x-stow"),
      (["application/x-stow;q=0"], "json"), (["application/x-stow;q=0.5, application/*;q=0.6"], "json"),
      (["application/x-stow;q=0.5, application/*;q=0.6, application/json;q=0.1"], "x-stow"),
      (["application/x-stow;v=1;q=0.2, */*;q=0.1"], "x-stow"),
      (["application/json;q=0.1", "application/x-stow"], "x-stow"),
      (["application/x-stow;q=nan"], "json"), (["application/x-stow;q=often, */*"], "x-stow"),
      ([";;,,=;q="], "json"),
    ]
    try await PeopleServer.run { port in
      for (accept, format) in expected {
        let answer = try await Self.ask(port, accept: accept)
        #expect(answer.contentType == "application/" + format, "Accept: \(accept)")
        #expect(answer.headers["Vary"] == ["Accept"])
        #expect(try answer.people() == Person.make(count: 100))
      }
    }
  }

  @Test("reads the type of the request as HTTP writes it, takes JSON if there is none, and refuses others")
  func contentTypes() async throws {
    try await PeopleServer.run { port in
      let (stow, json) = (try StowEncoder().encode(Self.people), try Self.jsonEncoder().encode(Self.people))
      for (bytes, type, status) in [
        (stow, "Application/X-STOW", HTTPResponseStatus.ok), (stow, "application/x-stow; version=1", .ok),
        (json, "application/json; charset=utf-8", .ok), (json, nil, .ok),
        (stow, "application/json", .badRequest), (json, "application/x-stow", .badRequest),
        (stow, nil, .badRequest),
        (json, "text/plain", .unsupportedMediaType),
        (stow, "application/octet-stream", .unsupportedMediaType),
        (stow, "application/x-stowed", .unsupportedMediaType), (stow, "", .unsupportedMediaType),
      ] as [(Data, String?, HTTPResponseStatus)] {
        let answer = try await Self.ask(port, bytes, contentType: type)
        #expect(answer.status == status, "\(type ?? "none")")
      }
    }
  }

  @Test("answers broken bytes with 400, and goes on")
  func broken() async throws {
    try await PeopleServer.run { port in
      let message = try StowEncoder().encode(Array(Self.people.prefix(2)))
      func post(_ bytes: Data) async throws -> HTTPResponseStatus {
        try await Self.ask(port, bytes, contentType: "application/x-stow").status
      }
      for end in 0..<message.count {
        let status = try await post(message.prefix(end))
        #expect(status == .badRequest, "\(end) bytes")
      }
      for bytes in [message + [0], try StowEncoder().encode(["no", "people"])] {
        let status = try await post(bytes)
        #expect(status == .badRequest)
      }
      for offset in message.indices {
        var broken = message
        broken[offset] ^= 0xFF
        let status = try await post(broken)
        #expect([.ok, .badRequest].contains(status), "at \(offset)")
      }
      let status = try await post(message)
      #expect(status == .ok)
    }
  }

  @Test("explains an error in the format that the client asked for")
  func errors() async throws {
    struct Explanation: Decodable {
      struct Details: Decodable { var message: String }
      var error: Details
    }
    try await PeopleServer.run { port in
      let answer = try await Self.ask(
        port, Data([1, 2, 3]), contentType: "application/x-stow", accept: ["application/x-stow"])
      #expect(answer.status == .badRequest && answer.contentType == "application/x-stow")
      #expect(try !StowDecoder().decode(Explanation.self, from: answer.body).error.message.isEmpty)
    }
  }

  @Test(
    "answers a request that is too large with 413", arguments: ["application/json", "application/x-stow"])
  func tooLarge(type: String) async throws {
    try await PeopleServer.run { port in
      let most = Data(count: 1 << 20)
      let answers = [
        try await Self.ask(port, most, contentType: type),
        try await Self.ask(port, most + [0], contentType: type),
      ]
      #expect(answers.map(\.status) == [.badRequest, .payloadTooLarge])
    }
  }

  @Test("reads a request in chunks, and answers with 413 once they are too many", arguments: [1, 7, 4096])
  func chunks(size: Int) async throws {
    try await PeopleServer.run { port in
      let type = "application/x-stow"
      let people = try await Self.ask(
        port, StowEncoder().encode(Self.people), contentType: type, accept: [type], chunkSize: size)
      #expect(try people.people() == Self.people)
      let tooMany = try await Self.ask(
        port, Data(count: 2 << 20), contentType: type, chunkSize: max(size, 4096))
      #expect(tooMany.status == .payloadTooLarge)
    }
  }

  @Test("is understood by the client")
  func client() async throws {
    try await PeopleServer.run { port in
      let url = "http://127.0.0.1:\(port)/people"
      let fetched = try await StowClient().get([Person].self, from: url)
      #expect(fetched == Person.make(count: 100))
      let sentBack = try await StowClient().post(Self.people, to: url, for: [Person].self)
      #expect(sentBack == Self.people)
      await #expect(throws: StowClient.UnexpectedAnswer.self) {
        try await StowClient().post("nobody", to: url, for: [Person].self)
      }
      await #expect(throws: StowClient.UnexpectedAnswer.self) {
        try await StowClient().get([Person].self, from: "http://127.0.0.1:\(port)/nowhere")
      }
      await #expect(throws: DecodingError.self) { try await StowClient().get([Int].self, from: url) }
      await #expect(throws: NIOTooManyBytesError.self) {
        try await StowClient(maximumLength: 100).get([Person].self, from: url)
      }
    }
  }
}
