import Stow

/// The definitions that the records of a scope rely on, for the writer of a log, which begins and ends scopes.
protocol RecordScope: AnyObject {
  /// Forgets all definitions: the next record begins a scope.
  func begin()
}

/// Encodes the records of a scope, each as a message that relies on the definitions of those before it.
final class RecordEncoder: RecordScope {
  private let encoder: StowEncoder
  private let definitions = EncodingDefinitions()

  /// - Parameter encoder: Encodes the values. Its options apply, its context does not.
  init(_ encoder: StowEncoder) { self.encoder = encoder }

  func begin() { definitions.removeAll() }

  /// Encodes a record, lends its bytes to `body`, and keeps its definitions for later records. If the record
  /// is then not written, a new scope must begin.
  func encode<Value: Encodable, Result>(
    _ value: Value, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    try encoder.withMessage(of: value, relyingOn: definitions, body)
  }
}

/// All definitions of a scope, for records that are opened in any order and by many threads at once.
final class KnownScope: Sendable {
  private let definitions: DecodingDefinitions
  /// The records that define something, by their indices.
  private let defining: [(index: Int, scope: DecodingDefinitions.Scope)]
  /// The first record whose definitions are not valid. Without them, those of later records would get the wrong
  /// numbers.
  private let broken: (index: Int, error: any Error)?

  /// - Parameters:
  ///   - scope: The number of the scope.
  ///   - run: Records, whose places are in `bytes`.
  ///   - keepsShortStrings: Whether many records are to be decoded.
  init(_ scope: Int, of run: Block.Run, in bytes: [UInt8], keepsShortStrings: Bool) {
    let definitions = DecodingDefinitions(keepsShortStrings: keepsShortStrings)
    var defining: [(index: Int, scope: DecodingDefinitions.Scope)] = []
    var broken: (index: Int, error: any Error)?
    bytes.withUnsafeBytes { bytes in
      let end = scope + 1 < run.scopes.count ? run.scopes[scope + 1] : run.records.count
      for index in run.scopes[scope]..<end {
        let place = run.records[index]
        // Packed records define nothing.
        guard !place.isPacked, bytes[Int(place.start)] == RecordPrelude.tag else { continue }
        do {
          let record = UnsafeRawBufferPointer(rebasing: bytes[place.range])
          defining.append((index, try definitions.add(record: record)))
        } catch {
          broken = (index, error)
          return
        }
      }
    }
    (self.definitions, self.defining, self.broken) = (definitions, defining, broken)
  }

  /// The approximate size in memory, in bytes.
  var size: Int { 512 + 4 * definitions.size }

  /// Returns the definitions of the record at an index and of those before it.
  func definitions(of record: UnsafeRawBufferPointer, at index: Int) throws -> DecodingDefinitions.Scope {
    if let broken, broken.index <= index { throw broken.error }
    let end = defining.partitionPoint { $0.index <= index }
    let last = end > 0 ? defining[end - 1] : nil
    if let last, last.index == index { return last.scope }
    return try definitions.scope(of: record, after: last?.scope)
  }
}

/// Copies records from one scope into another, without knowing their types.
///
/// Definitions keep their numbers, so a scope of the new log begins with all definitions that the old scope had up to
/// there: the first copied record carries those of all records before it. Each record of a large group might carry many
/// times its own bytes. Such a record is written by its value instead, and defines what that needs.
final class RecordCopier: RecordScope {
  private struct TooMuchToCarry: Error {}

  /// The preludes of the old scope so far, and those among them that the new scope lacks.
  private var all: [RecordPrelude] = []
  private var missing: [RecordPrelude] = []
  /// How many bytes all preludes have.
  private var size = 0
  /// Encodes records by their values.
  private let values: RecordEncoder
  /// Whether the last record was written by its value, and the scope of the new log is that of `values`.
  private var isByValue = false
  /// What is wrong with the definitions of a skipped record: those after it in its scope cannot be copied.
  private var broken: (any Error)?
  /// How many more bytes may be carried because values cannot be written.
  private var allowance: Int

  /// A record carries no more bytes than these, unless it has as many itself.
  private static let mostCarried = BlockHead.blockSize / 4

  /// - Parameters:
  ///   - maximumDepth: How deep values may be that are read from the old log.
  ///   - size: The size of the old log.
  init(maximumDepth: Int, size: Int) {
    allowance = size
    let encoder = StowEncoder()
    encoder.maximumDepth = maximumDepth
    values = RecordEncoder(encoder)
  }

  /// Forgets everything: the records that follow belong to another scope of the old log.
  func beginReading() {
    all = []
    missing = []
    size = 0
    isByValue = false
    broken = nil
  }

  /// Begins a new scope, without definitions, for the records that follow.
  func begin() { missing = all }

  /// Takes in the definitions of a record that is not copied.
  func skip(_ record: RecordLog.Record) {
    do {
      let prelude = try record.store.withBytes(of: record.index) { try RecordPrelude(of: $0) }
      if prelude.isEmpty { return }
      add(prelude)
      missing.append(prelude)
    } catch {
      broken = broken ?? error
    }
  }

  /// Appends a record to a log, whose scope must have ended if the record begins one of the old log.
  func append(_ record: RecordLog.Record, to log: LogWriter) throws {
    if let broken { throw broken }
    if isByValue {
      if isTooMuch(size, for: record.size), try appendValue(of: record, to: log) == nil { return }
      isByValue = false
      log.endScope()
    }
    do {
      try appendCopy(of: record, to: log)
    } catch is TooMuchToCarry {
      log.endScope()
      guard let error = try appendValue(of: record, to: log) else { return }
      allowance -= size
      if allowance < 0 { throw error }
      try appendCopy(of: record, to: log, carriesAll: true)
    }
  }

  /// Appends the value of a record. Returns an error if it holds no value, or the value cannot be written so.
  private func appendValue(of record: RecordLog.Record, to log: LogWriter) throws -> (any Error)? {
    do {
      let value = try record.decode(StowValue.self)
      try log.append(in: values) { try values.encode(value, $0) }
    } catch let error where error is DecodingError || error is EncodingError {
      // Encoding may need more of the stack than decoding.
      log.endScope()
      return error
    }
    skip(record)
    isByValue = true
    return nil
  }

  /// - Parameter carriesAll: Whether the record may carry any number of bytes, because its value cannot be written.
  private func appendCopy(of record: RecordLog.Record, to log: LogWriter, carriesAll: Bool = false) throws {
    try log.append(in: self) { body in
      try record.store.withBytes(of: record.index) { try copy($0, carriesAll, body) }
    }
  }

  /// Lends a record as it is to be written, and takes in what it defines, unless `body` throws or returns false.
  private func copy(
    _ record: UnsafeRawBufferPointer, _ carriesAll: Bool, _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    let prelude = try RecordPrelude(of: record)
    guard try lend(record, prelude, carriesAll, body) else { return false }
    missing = []
    if !prelude.isEmpty { add(prelude) }
    return true
  }

  private func add(_ prelude: RecordPrelude) {
    all.append(prelude)
    size += prelude.size
  }

  private func isTooMuch(_ carried: Int, for record: Int) -> Bool { carried > max(Self.mostCarried, record) }

  private func lend(
    _ record: UnsafeRawBufferPointer, _ prelude: RecordPrelude, _ carriesAll: Bool,
    _ body: (UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    if missing.isEmpty { return try body(record) }
    let carried = missing.reduce(0) { $0 + $1.size }
    if !carriesAll, isTooMuch(carried, for: record.count) { throw TooMuchToCarry() }
    let preludes = missing + [prelude]
    var message = [RecordPrelude.tag]
    Varint.append(preludes.reduce(0) { $0 + $1.symbolCount }, to: &message)
    for prelude in preludes { message += prelude.symbols }
    Varint.append(preludes.reduce(0) { $0 + $1.shapeCount }, to: &message)
    for prelude in preludes { message += prelude.shapes }
    message += record[prelude.size...]
    return try message.withUnsafeBytes(body)
  }
}
