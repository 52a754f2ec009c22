import Stow
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
    let isInput = path == Arguments.standardFile
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
      guard let bytes = System.readAll(path == Arguments.standardFile ? nil : path) else {
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

  /// Whether most of the bytes are inside the value that they begin with. Almost all bytes begin one: those of another
  /// format mostly end it soon.
  var mayBeMessage: Bool {
    data.withUnsafeBytes { bytes in
      // A prelude may be most of a message.
      if bytes.first == 0x1F || bytes.starts(with: [0x7F, 0x01]) { return true }
      do throws(FormatError) { return try ByteReader(bytes).end(of: 0) >= bytes.count / 2 } catch {
        return error.kind == .truncated
      }
    }
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

  private var hasSecondBlock: Bool { BlockHead(data.dropFirst(BlockHead.blockSize).prefix(BlockHead.size))?.index == 1 }
}

extension URL {
  /// A file named on the command line. The shell has expanded each `~` that means a folder; `URL` would expand others.
  init(named path: String) {
    let path = System.withoutParents(path)
    // A URL cannot name the current folder if its name is not UTF-8. Then the path stays relative, and the system
    // resolves it.
    let isFolderNamed = System.status(of: FileManager.default.currentDirectoryPath) != nil
    let folder = isFolderNamed ? nil : URL(string: "file:")
    self.init(filePath: path.hasPrefix("~") ? "./\(path)" : path, relativeTo: folder)
  }
}

/// What files that are not messages look like, and what to do with them. The library recognizes some by their
/// beginning; texts are recognized here.
enum Advice {
  /// How many bytes of a file are looked at.
  private static let most = 4096

  /// Returns what bytes that are not a valid message look like, and what to do with them; nil if that is not known.
  static func on(_ data: Data) -> (name: String, remedy: String)? {
    if let name = data.withUnsafeBytes({ Resemblance.of($0) }) {
      if name == "JSON" { return (name, ": stowtool from-json makes a message from it") }
      return (name, name.hasSuffix(" file") ? ": unpack it first" : "")
    }
    let isWhole = data.count <= most
    let start = data.prefix(most)
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let text = start.filter { !isSpace($0) }
    guard text.count >= 2, !start.contains(where: { $0 < 0x20 && !isSpace($0) }) else { return nil }
    if isHexadecimal(text) { return ("bytes in hexadecimal", ": xxd -r -p decodes them") }
    if isBase64(text, isWhole) { return ("Base64", ": base64 -d decodes it") }
    return String(bytes: isWhole ? start : start.dropLast(4), encoding: .utf8) == nil ? nil : ("text", "")
  }

  private static func isHexadecimal(_ text: Data) -> Bool {
    text.count.isMultiple(of: 2) && text.allSatisfy { $0 < 0x80 && Character(Unicode.Scalar($0)).isHexDigit }
  }

  /// The letters of Base64 in both of its alphabets.
  private static let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_".utf8)

  private static func isBase64(_ text: Data, _ isWhole: Bool) -> Bool {
    let letters = text.reversed().drop { $0 == UInt8(ascii: "=") }
    return text.count >= 8 && text.count - letters.count <= 2 && (!isWhole || text.count.isMultiple(of: 4))
      && letters.allSatisfy { alphabet.contains($0) }
  }
}

/// How far the command is in a large file, on standard error if that is a terminal.
final class Progress {
  private let size: Int
  private let isShown: Bool
  private var shown = -1

  /// The size from which on progress is shown: smaller files take no time.
  private static let least = 100_000_000

  init(of input: Input) {
    size = input.data.count
    isShown = size >= Self.least && System.isTerminal(.error)
  }

  /// Shows how much of the file has been read.
  func reach(_ offset: Int) {
    guard isShown else { return }
    let percent = offset / (size / 100)
    if percent == shown { return }
    shown = percent
    _ = System.write(Array("\r\(percent) %".utf8), to: .error)
  }

  /// Removes the line.
  func end() { if shown >= 0 { _ = System.write(Array("\r      \r".utf8), to: .error) } }
}
