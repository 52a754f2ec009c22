import CPostgreSQL

struct PostgreSQLError: Error {
  let description: String
}

/// A connection by libpq, on which values go both ways in their binary format.
final class PostgreSQLConnection {
  private let connection: OpaquePointer?

  init(_ parameters: String) throws {
    connection = PQconnectdb(parameters)
    if PQstatus(connection) != CONNECTION_OK { throw error() }
  }

  deinit { PQfinish(connection) }

  /// Runs a statement with values for `$1`, `$2` and so on, and returns the rows that it gives.
  @discardableResult
  func run(_ statement: String, _ values: [[UInt8]] = []) throws -> [[[UInt8]]] {
    var (bytes, starts): ([CChar], [Int]) = ([], [])
    for value in values {
      starts.append(bytes.count)
      // The zero gives an empty value a place of its own, too.
      bytes += value.map(CChar.init(bitPattern:)) + [0]
    }
    let result = bytes.withUnsafeBufferPointer { bytes in
      PQexecParams(
        connection, statement, Int32(values.count), nil,
        starts.map { start in bytes.baseAddress.map { $0 + start } },
        values.map { Int32($0.count) }, values.map { _ in 1 }, 1)
    }
    defer { PQclear(result) }
    guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else { throw error() }
    return (0..<PQntuples(result)).map { row in
      (0..<PQnfields(result)).map { column in
        let length = Int(PQgetlength(result, row, column))
        return [UInt8](UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: length))
      }
    }
  }

  private func error() -> PostgreSQLError {
    PostgreSQLError(description: String(cString: PQerrorMessage(connection)))
  }

  /// The binary format of the type `bigint`.
  static func bigint(_ number: Int) -> [UInt8] { withUnsafeBytes(of: Int64(number).bigEndian, Array.init) }

  static func number(_ bigint: [UInt8]) -> Int { bigint.reduce(0) { $0 << 8 | Int($1) } }
}
