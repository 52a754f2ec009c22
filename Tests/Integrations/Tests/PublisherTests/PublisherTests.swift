import Foundation
import OpenCombine
import OpenCombineSnippet
import Stow
import Testing

/// Encodes and decodes what publishers publish.
@Suite("Publishers of OpenCombine")
struct PublisherTests {
  private struct Station: Codable, Equatable {
    var name: String
    var level: Double?
  }

  private static let stations = [Station(name: "Elbe", level: 4.25), Station(name: "Weser", level: nil)]

  /// What was published, and the error it ended with.
  private static func received<Published: Publisher>(
    from publisher: Published
  ) -> (values: [Published.Output], error: (any Error)?, hasEnded: Bool) {
    var result: (values: [Published.Output], error: (any Error)?, hasEnded: Bool) = ([], nil, false)
    let subscription = publisher.sink(
      receiveCompletion: {
        if case .failure(let error) = $0 { result.error = error }
        result.hasEnded = true
      }, receiveValue: { result.values.append($0) })
    subscription.cancel()
    return result
  }

  @Test("encode what they publish, and decode it again")
  func roundTrip() throws {
    let result = Self.received(
      from: Publishers.Sequence<[Station], Never>(sequence: Self.stations)
        .encode(encoder: StowEncoder()).decode(type: Station.self, decoder: StowDecoder()))
    #expect(result.values == Self.stations && result.error == nil && result.hasEnded)
  }

  @Test("encode to the bytes that the encoder gives")
  func bytes() throws {
    let result = Self.received(from: Just(Self.stations).encode(encoder: StowEncoder()))
    #expect(result.values == [try StowEncoder().encode(Self.stations)])
  }

  @Test("end with an error where bytes are broken")
  func broken() throws {
    let messages = PassthroughSubject<Data, Never>()
    var (stations, failure): ([Station], (any Error)?) = ([], nil)
    let subscription = messages.decode(type: Station.self, decoder: StowDecoder()).sink(
      receiveCompletion: { if case .failure(let error) = $0 { failure = error } },
      receiveValue: { stations.append($0) })
    let message = try StowEncoder().encode(Self.stations[0])
    messages.send(message)
    #expect(failure == nil)
    messages.send(message.dropLast())
    messages.send(message)
    #expect(stations == [Self.stations[0]] && failure is DecodingError)
    subscription.cancel()
  }
}
