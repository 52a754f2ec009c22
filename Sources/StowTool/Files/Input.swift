#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file that was named on the command line, or standard input.
struct Input {
  /// As errors name it.
  let name: String
  /// The bytes. Those of a file are mapped, so that a large one takes no memory before it is looked at.
  let data: Data
  let isStandardInput: Bool

  init(_ path: String) throws {
    isStandardInput = path == Arguments.standardInput
    guard !isStandardInput else {
      name = "standard input"
      guard let bytes = System.readInput() else { throw Failure("standard input cannot be read") }
      data = Data(bytes)
      return
    }
    name = path
    do {
      data = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
    } catch {
      throw Failure("\(path): \(Self.reason(error))")
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile?, .fileNoSuchFile?: "no such file"
    case .fileReadNoPermission?: "no permission to read it"
    case .fileReadTooLarge?: "too large"
    default: "cannot be read"
    }
  }

  /// The text of the file.
  func text() throws -> String {
    guard let text = String(bytes: data, encoding: .utf8) else {
      throw Failure("\(name): not UTF-8", .differs)
    }
    return text
  }

  /// Why these bytes are no valid message, with what they look like instead.
  func fault(_ reason: String) -> String {
    guard kind == .message, let other = Resemblance.of(data) else { return reason }
    return "\(reason); this looks like \(other)"
  }

  /// What a file holds, by its first bytes.
  enum Kind { case message, log, stream }

  var kind: Kind {
    switch Array(data.prefix(2)) {
    case [0x7F, 0x02]: .log
    case [0x7F, 0x03]: .stream
    default: .message
    }
  }
}
