import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Walks over files, which lend their bytes.
enum Walks {
  static let contextOption = Option("--context", "FILE", "the message of a context that messages rely on")

  static func context(_ arguments: Arguments) throws -> StowContext? {
    try arguments.value("--context").map(context(in:))
  }

  static func context(in path: String) throws -> StowContext {
    let input = try Input(path)
    guard let context = try? StowContext(from: input.data) else {
      throw Failure("\(path): not the message of a context", .differs)
    }
    return context
  }

  /// Walks over the message, the log or the stream in a file. A folder has no bytes of its own.
  ///
  /// - Returns: What is wrong with it; nil if it is valid.
  static func walk<Visitor: StructureVisitor>(
    _ input: Input, _ context: StowContext?, _ visitor: (ByteReader) -> Visitor,
    finish: (inout Visitor) -> Void = { _ in }
  ) -> Broken? {
    input.data.withUnsafeBytes { bytes in
      let reader = ByteReader(bytes)
      var walk = MessageWalk(reader, visitor(reader))
      let broken: Broken?
      switch input.kind {
      case .message: broken = walk.message(context)
      case .log:
        var log = LogWalk(reader, from: input.firstRecord, walk)
        broken = log.file()
        walk = log.records
      case .stream:
        var stream = StreamWalk(reader, walk)
        broken = stream.file()
        walk = stream.records
      }
      finish(&walk.visitor)
      return broken
    }
  }
}
