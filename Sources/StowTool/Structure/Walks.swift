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
      let fault = fault(in: input, nil).map { "; \($0)" } ?? ""
      throw Failure("\(input.name): not the message of a context\(fault)", .differs)
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

  /// Returns where the bytes of a file are not valid, and why; nil if a walk finds no fault. Every verb that cannot read
  /// a file says this, so that a fault has one offset.
  static func fault(in input: Input, _ context: StowContext?) -> String? {
    var path = Path()
    let progress = Progress(of: input)
    let broken = walk(input, context) { _ in
      ProgressFollower(progress)
    } finish: {
      path = $0.path
    }
    progress.end()
    return broken.map { broken in
      let place = path.count > 0 ? ", in \(path)" : ""
      return "not valid at offset \(broken.offset)\(place): \(input.fault(broken.reason))"
    }
  }
}

/// Follows where a walk is, and so where it broke off; and shows how far it is.
private struct ProgressFollower: StructureVisitor {
  private(set) var path = Path()
  private let progress: Progress

  init(_ progress: Progress) { self.progress = progress }

  mutating func piece(_ bytes: Range<Int>, _ kind: PieceKind, _ meaning: @autoclosure () -> String) {
    progress.reach(bytes.upperBound)
  }
  var depth: Int { path.count }
  mutating func enter(_ place: Place) { path.enter(place) }
  mutating func leave() { path.leave() }
}
