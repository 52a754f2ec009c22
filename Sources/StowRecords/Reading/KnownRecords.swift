import Stow
import Synchronization

/// What is known about a run of records in a block once it was read, without their bytes: their places, what
/// they rely on, and the checksums that allow a part of the block to be read again.
///
/// ```
///  payload of a frame   │ stretch │ stretch │ stretch │ …
///                       c0        c1        c2        c3     checksums of all that stands before
///                                   └ record ┘               c1 and the bytes of two stretches must give c3
/// ```
final class KnownRun: Sendable {
  /// The identity of the file, which may be closed meanwhile.
  let identity: UInt64
  /// The numbers of the records that count.
  let numbers: Range<Int>
  /// The approximate size in memory, in bytes.
  let size: Int
  private let blockStart: Int
  private let run: Block.Run
  private let checksums: [Checksum]
  private let scopes: [KnownScope]
  private let decoder: StowDecoder

  /// Nil if there are no records.
  init?(_ run: Block.Run, of block: Block, counting numbers: Range<Int>, _ file: LogFile, _ decoder: StowDecoder) {
    if numbers.isEmpty { return nil }
    identity = file.identity
    self.numbers = numbers
    blockStart = block.start
    self.run = run
    checksums = block.checksums
    scopes = run.scopes.indices.map { KnownScope($0, of: run, in: block.bytes, keepsShortStrings: false) }
    self.decoder = decoder
    size =
      512 + run.records.count * MemoryLayout<Block.Place>.stride + checksums.count * 4 + run.frames.count * 12
      + run.numbers.gaps.count * 16
      + scopes.reduce(0) { $0 + $1.size } + run.windows.reduce(0) { $0 + $1.bytes.count }
  }

  /// Returns whether a record is present, and not left out.
  func has(_ number: Int) -> Bool { numbers.contains(number) && run.numbers.place(of: number) != nil }

  /// Reads a record again, with others in the same stretches. Returns nil if the stretches cannot be read, or
  /// have other bytes now.
  func readRecords(around number: Int, of file: LogFile) -> RecordStore? {
    records(around: number, of: file) { bytes in
      try? LogFile.bytes(of: file.disk, file.path, from: blockStart + bytes.lowerBound, count: bytes.count)
    }
  }

  /// Takes a record, with others in the same stretches, from the block in which they were found.
  func records(around number: Int, of file: LogFile, in block: Block) -> RecordStore? {
    records(around: number, of: file) { Array(block.bytes[$0]) }
  }

  private func records(around number: Int, of file: LogFile, read: (Range<Int>) -> [UInt8]?) -> RecordStore? {
    guard let index = run.numbers.place(of: number) else { return nil }
    let place = run.records[index].range
    let frame = run.frames[run.frames.partitionPoint { Int($0.end) < place.upperBound }]
    let stretches = frame.stretches(of: place)
    let range = frame.bytes(of: stretches)
    guard let bytes = read(range), bytes.count == range.count else { return nil }
    var checksum = checksums[Int(frame.firstChecksum) + stretches.lowerBound]
    bytes.withUnsafeBytes { checksum.update($0) }
    guard checksum == checksums[Int(frame.firstChecksum) + stretches.upperBound] else { return nil }

    var (first, end) = (index, index + 1)
    let least = run.numbers.place(from: numbers.lowerBound)
    while first > least, run.records[first - 1].range.lowerBound >= range.lowerBound { first -= 1 }
    let last = run.numbers.place(from: numbers.upperBound)
    while end < last, run.records[end].range.upperBound <= range.upperBound { end += 1 }
    // All records of a frame belong to one scope.
    let scope = run.scope(of: index)
    let part = Block.Run(
      run.numbers.part(first..<end), run.records[first..<end].map { $0.from(range.lowerBound) },
      windows: [run.windows[scope]])
    return RecordStore(file, part, bytes, known: (scopes[scope], first), decoder)
  }
}

extension Block.RunFrame {
  /// Returns the stretches that contain some bytes of the payload.
  fileprivate func stretches(of bytes: Range<Int>) -> Range<Int> {
    let first = (bytes.lowerBound - Int(start)) / Frame.stretch
    return first..<max(first, (bytes.upperBound - Int(start) + Frame.stretch - 1) / Frame.stretch)
  }

  fileprivate func bytes(of stretches: Range<Int>) -> Range<Int> {
    let first = min(Int(start) + stretches.lowerBound * Frame.stretch, Int(end))
    return first..<min(Int(start) + stretches.upperBound * Frame.stretch, Int(end))
  }
}

/// A cache of blocks in which records were looked up by number, within a limit of bytes. Blocks that were not
/// used for long are evicted by the clock algorithm.
final class KnownRecords: Sendable {
  fileprivate struct State {
    /// How often files of the log had been replaced. A copy in the place of a file has the same identity, and may go on
    /// otherwise.
    var generation = 0
    /// The runs in the order of their numbers, and whether each was used since the hand last passed it.
    var runs: [(run: KnownRun, isUsed: Bool)] = []
    var size = 0
    /// The index of the next run to consider for eviction.
    var hand = 0
    /// The records that were read last.
    var recent: RecordStore?
  }

  private let limit: Int
  private let state = Mutex(State())

  /// - Parameter limit: The approximate limit of memory, in bytes.
  init(limit: Int) { self.limit = limit }

  /// The approximate memory taken, in bytes.
  var size: Int { state.withLock { $0.size } }

  /// Returns a record of a known block; nil if its block is not known, or has other bytes now.
  ///
  /// - Parameter generation: How often files of the log have been replaced.
  func record(_ number: Int, of file: LogFile, _ generation: Int) -> RecordLog.Record? {
    let (recent, run) = state.withLock { state -> (RecordStore?, KnownRun?) in
      if state.generation < generation { state = State(generation: generation) }
      guard state.generation == generation else { return (nil, nil) }
      return (state.recent, state.run(with: number, of: file))
    }
    if let recent, recent.identity == file.identity, let record = recent.record(number) { return record }
    guard let run, run.has(number) else { return nil }
    guard let store = run.readRecords(around: number, of: file) else {
      state.withLock { $0.forget(run) }
      return nil
    }
    return record(number, in: store, generation)
  }

  /// Remembers a block, and returns a record in it.
  ///
  /// - Parameter generation: How often files of the log had been replaced before the block was read.
  func record(
    _ number: Int, of file: LogFile, in block: Block, _ run: KnownRun, _ generation: Int
  ) -> RecordLog.Record? {
    guard run.has(number), let store = run.records(around: number, of: file, in: block) else { return nil }
    return record(number, in: store, generation) { $0.remember(run, self.limit) }
  }

  private func record(
    _ number: Int, in store: RecordStore, _ generation: Int, remembering: (inout State) -> Void = { _ in }
  ) -> RecordLog.Record? {
    state.withLock { state in
      guard state.generation == generation else { return }
      remembering(&state)
      state.recent = store
    }
    return store.record(number)
  }
}

extension KnownRecords.State {
  fileprivate mutating func run(with number: Int, of file: LogFile) -> KnownRun? {
    let index = runs.partitionPoint { $0.run.numbers.upperBound <= number }
    guard index < runs.count, runs[index].run.numbers.contains(number), runs[index].run.identity == file.identity else {
      return nil
    }
    runs[index].isUsed = true
    return runs[index].run
  }

  /// Remembers a run, and drops others with the same numbers: they are of an earlier time, or of another file.
  fileprivate mutating func remember(_ run: KnownRun, _ limit: Int) {
    guard run.size <= limit else { return }
    var index = runs.partitionPoint { $0.run.numbers.upperBound <= run.numbers.lowerBound }
    while index < runs.count, runs[index].run.numbers.lowerBound < run.numbers.upperBound { remove(at: index) }
    while size + run.size > limit { forgetOne() }
    index = runs.partitionPoint { $0.run.numbers.upperBound <= run.numbers.lowerBound }
    runs.insert((run, false), at: index)
    size += run.size
    if hand > index { hand += 1 }
  }

  fileprivate mutating func forget(_ run: KnownRun) {
    if let index = runs.firstIndex(where: { $0.run === run }) { remove(at: index) }
  }

  /// Evicts the next run that was not used since the hand last passed it.
  private mutating func forgetOne() {
    while true {
      if hand >= runs.count { hand = 0 }
      guard runs[hand].isUsed else { return remove(at: hand) }
      runs[hand].isUsed = false
      hand += 1
    }
  }

  private mutating func remove(at index: Int) {
    size -= runs.remove(at: index).run.size
    if hand > index { hand -= 1 }
  }
}
