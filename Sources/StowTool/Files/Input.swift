import StowRecords
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A file that was named on the command line, or standard input; or a folder, which is a log of segments.
struct Input {
  /// The name in errors.
  let name: String
  /// The bytes. Those of a file are mapped, so that a large one takes no memory before it is looked at.
  let data: Data
  /// Whether it is standard input, a pipe or a device: what cannot be opened once more by its name.
  let isPiped: Bool
  /// The segments of a folder, in their order; nil for a file.
  let segments: [Segment]?

  init(_ path: String) throws {
    let isInput = path == Arguments.standardInput
    name = isInput ? "standard input" : path
    let kind = isInput ? .other : System.status(of: path)?.kind
    isPiped = kind == .other
    segments = kind == .folder ? try Self.segments(in: path) : nil
    switch kind {
    case .folder: data = Data()
    case .other: data = try Self.piped(path, name)
    case .file, nil:
      do {
        data = try Data(contentsOf: URL(named: path), options: .alwaysMapped)
      } catch {
        throw Failure("\(path): \(Self.reason(error))")
      }
    }
  }

  /// What was read of standard input, of pipes and of devices, by their paths: they give their bytes only once.
  private static let pipes = Mutex<[String: Data]>([:])

  private static func piped(_ path: String, _ name: String) throws -> Data {
    try pipes.withLock { known in
      if let data = known[path] { return data }
      guard let bytes = System.readAll(path == Arguments.standardInput ? nil : path) else {
        throw Failure("\(name) cannot be read")
      }
      let data = Data(bytes)
      known[path] = data
      return data
    }
  }

  private static func segments(in path: String) throws -> [Segment] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw Failure("\(path): \(reason(error))")
    }
    let end = path.lastIndex { $0 != "/" } ?? path.startIndex
    let segments = names.compactMap { Segment(named: $0, in: String(path[...end])) }
    if segments.isEmpty { throw Failure("\(path): a folder without segments of a log") }
    return segments.sorted { $0.first < $1.first }
  }

  /// The sizes of the segments of a folder, or of the file, in bytes.
  var sizes: [Int] { segments?.map { System.status(of: $0.path)?.size ?? 0 } ?? [data.count] }

  /// Calls `body` with the file itself, or with the files of all segments, one after the other.
  ///
  /// - Throws: The first that was thrown for one of them.
  func forEachFile(_ body: (Input) throws -> Void) throws {
    guard let segments else { return try body(self) }
    var failure: (any Error)?
    for segment in segments {
      do {
        try body(Input(segment.path))
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// The segment that the file is, if it has the name of one.
  private var segment: Segment? { Segment(named: name.split(separator: "/").last ?? "", in: "") }

  /// The number of the first record that the file may have.
  var firstRecord: Int { segment?.first ?? 0 }

  private static func reason(_ error: any Error) -> String {
    switch (error as? CocoaError)?.code {
    case .fileReadNoSuchFile?, .fileNoSuchFile?: "no such file"
    case .fileReadNoPermission?: "no permission to read it"
    case .fileReadTooLarge?: "too large"
    default: "cannot be read"
    }
  }

  /// Returns why these bytes are not a valid message, with what they look like instead.
  func fault(_ reason: String) -> String {
    guard kind == .message, let other = Advice.on(data) else { return reason }
    let hint = "; these bytes look like \(other.name)"
    return (reason.hasSuffix(hint) ? reason : reason + hint) + other.remedy
  }

  /// What a file holds, by its first bytes; of a log also by the head of its second block, if the first one is damaged.
  enum Kind { case message, log, stream }

  var kind: Kind {
    if segments != nil || segment != nil { return .log }
    return switch Array(data.prefix(2)) {
    case [0x7F, 0x02]: .log
    case [0x7F, 0x03]: .stream
    default: hasSecondBlock ? .log : .message
    }
  }

  private var hasSecondBlock: Bool {
    BlockHead(data.dropFirst(BlockHead.blockSize).prefix(BlockHead.size))?.index == 1
  }
}

extension URL {
  /// What a word of the command line names. A shell has put the home folder in the place of a `~` that stood for it, and what
  /// `URL` takes for one is part of a name.
  init(named path: String) { self.init(filePath: path.hasPrefix("~") ? "./\(path)" : path) }
}
