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
    guard let path = arguments.value("--context") else { return nil }
    let input = try Input(path)
    guard let context = try? StowContext(input.data) else {
      throw Failure("\(path): not the message of a context", .differs)
    }
    return context
  }

  /// Walks over the message in a file.
  ///
  /// - Returns: What is wrong with it; nil if it is valid.
  static func walk<Visitor: StructureVisitor>(
    _ input: Input, _ context: StowContext?, _ visitor: (ByteReader) -> Visitor,
    finish: (inout Visitor) -> Void = { _ in }
  ) -> Broken? {
    input.data.withUnsafeBytes { bytes in
      let reader = ByteReader(bytes)
      var walk = MessageWalk(reader, visitor(reader))
      let broken = walk.message(context)
      finish(&walk.visitor)
      return broken
    }
  }
}
