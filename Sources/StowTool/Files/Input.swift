#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file that was named on the command line, or standard input; or a folder, which is a log of segments.
struct Input {
  /// As errors name it.
  let name: String
  /// The bytes. Those of a file are mapped, so that a large one takes no memory before it is looked at.
  let data: Data
  let isStandardInput: Bool
  /// How many bytes each segment of a folder has; nil for a file, and for a folder without segments.
  let segmentSizes: [Int]?

  init(_ path: String) throws {
    isStandardInput = path == Arguments.standardInput
    segmentSizes = isStandardInput ? nil : Self.segmentSizes(of: path)
    guard !isStandardInput else {
      name = "standard input"
      guard let bytes = System.readInput() else { throw Failure("standard input cannot be read") }
      data = Data(bytes)
      return
    }
    name = path
    if segmentSizes != nil {
      data = Data()
      return
    }
    do {
      data = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
    } catch {
      throw Failure("\(path): \(Self.reason(error))")
    }
  }

  private static func segmentSizes(of path: String) -> [Int]? {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let sizes = names.filter { $0.hasSuffix(".stowlog") }.map { name in
      (try? Data(contentsOf: URL(filePath: "\(path)/\(name)"), options: .alwaysMapped))?.count ?? 0
    }
    return sizes.isEmpty ? nil : sizes
  }

  /// In bytes.
  var size: Int { segmentSizes?.reduce(0, +) ?? data.count }

  /// Throws for a folder, which has no bytes of its own.
  func requireFile() throws {
    if segmentSizes != nil { throw Failure("\(name): a folder of segments; name one of its files") }
  }

  private static func reason(_ error: any Error) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile?, .fileNoSuchFile?: "no such file"
    case .fileReadNoPermission?: "no permission to read it"
    case .fileReadTooLarge?: "too large"
    default: "cannot be read"
    }
  }

  /// Why these bytes are no valid message, with what they look like instead.
  func fault(_ reason: String) -> String {
    guard kind == .message, let other = Advice.on(data) else { return reason }
    let hint = "; these bytes look like \(other.name)"
    return (reason.hasSuffix(hint) ? reason : reason + hint) + other.remedy
  }

  /// What a file holds, by its first bytes.
  enum Kind { case message, log, stream }

  var kind: Kind {
    if segmentSizes != nil { return .log }
    return switch Array(data.prefix(2)) {
    case [0x7F, 0x02]: .log
    case [0x7F, 0x03]: .stream
    default: .message
    }
  }
}
