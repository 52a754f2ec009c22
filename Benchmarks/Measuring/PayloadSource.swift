import Foundation

extension Payload {
  /// Where a payload comes from, to be told to a child process.
  struct Source: Sendable {
    enum Kind: String {
      case catalogue, document
    }

    let kind: Kind
    /// The name in the catalogue, or the path of the document.
    let name: String
  }

  /// The payload that comes from `source`; nil if the catalogue has none of its name.
  init?(_ source: Source) throws {
    switch source.kind {
    case .document: try self.init(documentAt: source.name)
    case .catalogue:
      guard let payload = Catalogue.payloads.first(where: { $0.name == source.name }) else { return nil }
      self = payload
    }
  }

  /// A JSON file as a payload.
  init(documentAt path: String) throws {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw PayloadFailure(description: "\(path) cannot be read")
    }
    do {
      self.init(document: path, try DocumentParser.parse(Array(bytes)))
    } catch let failure as DocumentParser.Failure {
      throw PayloadFailure(description: "\(path) is not JSON: \(failure.description)")
    }
  }
}
