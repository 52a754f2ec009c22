/// A file that is known to be a log.
final class LogFile: Sendable {
  let path: String
  let disk: any DiskFile
  /// The eight bytes that all blocks of the file have in common.
  let identity: UInt64

  init(path: String, disk: any DiskFile, identity: UInt64) {
    self.path = path
    self.disk = disk
    self.identity = identity
  }

  /// A file whose identity is that of the first head which is whole.
  convenience init(reading path: String, _ disk: any DiskFile) throws {
    let size = try RecordLogError.naming(path) { try disk.size() }
    for index in 0..<BlockHead.count(in: size) {
      let bytes = try Self.bytes(of: disk, path, from: index * BlockHead.blockSize, count: BlockHead.size)
      if let version = BlockHead.laterVersion(bytes) {
        throw RecordLogError(file: path, .laterVersion(version))
      }
      if let head = BlockHead(bytes), head.index == index {
        self.init(path: path, disk: disk, identity: head.identity)
        return
      }
    }
    throw RecordLogError(file: path, .notALog)
  }

  static func bytes(of disk: any DiskFile, _ path: String, from offset: Int, count: Int) throws -> [UInt8] {
    try RecordLogError.naming(path, at: offset) {
      try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = try disk.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      }
    }
  }

  func size() throws -> Int { try RecordLogError.naming(path) { try disk.size() } }

  /// The head of a block, if it is whole and stands where it belongs.
  func head(of index: Int) throws -> BlockHead? {
    head(try Self.bytes(of: disk, path, from: index * BlockHead.blockSize, count: BlockHead.size), of: index)
  }

  private func head(_ bytes: [UInt8], of index: Int) -> BlockHead? {
    guard let head = BlockHead(bytes), head.index == index, head.identity == identity else { return nil }
    return head
  }

  /// A block, as far as it stands before `end`; nil if its head is not whole.
  func block(_ index: Int, before end: Int) throws -> Block? {
    let start = index * BlockHead.blockSize
    let count = min(BlockHead.blockSize, end - start)
    guard count >= BlockHead.size else { return nil }
    let bytes = try Self.bytes(of: disk, path, from: start, count: count)
    return head(bytes, of: index).map { Block($0, bytes) }
  }

  /// The last block that begins before `end` and whose first record is not behind `number`; nil if there is none.
  ///
  /// Reads a number of heads that is the logarithm of the number of blocks, unless heads are damaged.
  func lastBlock(notBehind number: Int, before end: Int) throws -> Int? {
    var found: Int?
    var low = 0
    var high = BlockHead.count(in: end) - 1
    while low <= high {
      let middle = low + (high - low) / 2
      if let (index, head) = try firstHead(in: middle...high), head.firstRecord <= number {
        found = index
        low = index + 1
      } else {
        high = middle - 1
      }
    }
    return found
  }

  private func firstHead(in indices: ClosedRange<Int>) throws -> (index: Int, head: BlockHead)? {
    for index in indices {
      if let head = try head(of: index) { return (index, head) }
    }
    return nil
  }
}

extension BlockHead {
  /// How many blocks begin in a file of a size.
  static func count(in size: Int) -> Int { size / blockSize + (size % blockSize == 0 ? 0 : 1) }
}

extension RecordLogError {
  /// The result of a system call, whose errors become those of a log.
  static func naming<Result>(_ path: String, at offset: Int? = nil, _ call: () throws -> Result) throws
    -> Result
  {
    do {
      return try call()
    } catch let error as SystemError {
      throw RecordLogError(file: path, offset: offset, error)
    }
  }
}
