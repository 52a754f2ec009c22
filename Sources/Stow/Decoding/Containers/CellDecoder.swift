#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a cell holds. The type says which kind of cell it is.
protocol CellContent {
  var cell: Cell { get }
}

extension Int64: CellContent { var cell: Cell { .integer(self) } }
extension Double: CellContent { var cell: Cell { .double(self) } }
extension Float: CellContent { var cell: Cell { .singleNaN(self) } }
extension Bool: CellContent { var cell: Cell { .bool(self) } }
extension Date: CellContent { var cell: Cell { .date(timeIntervalSinceReferenceDate) } }

/// The decoder of a cell: a scalar.
///
/// Three words, so that it sits inside its existential: a `Cell` itself would be more.
struct CellDecoder<Content: CellContent>: ScalarDecoder, ScalarContainer {
  let source: SessionElements
  let content: Content
  let node: PathNode

  private var session: DecodingSession { source.session }
  var codingPath: [any CodingKey] { session.codingPath(node, at: source.offset) }
  var userInfo: [CodingUserInfoKey: Any] { session.userInfo.values }

  func mismatch(_ type: Any.Type) -> any Error {
    session.error(FormatError(.cellMismatch, at: source.offset), at: node, source.offset, expected: type)
  }

  func decodeNil() -> Bool { false }

  @inline(__always)
  func read<Value: ReadableScalar>(_ type: Value.Type) throws -> Value {
    do throws(FormatError) {
      return try Value.read(content.cell, at: source.offset)
    } catch {
      throw session.error(error, at: node, source.offset, expected: type)
    }
  }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try session.decode(type, .cell(content.cell), of: source, at: node)
  }
}
