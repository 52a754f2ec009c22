import Foundation

/// How much memory a large value takes to encode and to decode, beyond the value: each case in a process of
/// its own, since a peak cannot be taken back.
enum MemoryUse {
  /// The payloads that are large enough to tell.
  enum Subject: String, CaseIterable {
    case people, doubles

    /// How many records or numbers there are.
    func count(quick: Bool) -> Int {
      let base = self == .people ? 1000 : 100_000
      return base * (quick ? 10 : 100)
    }
  }

  /// One direction.
  enum Direction: String {
    case encode, decode
  }

  /// Runs the child processes of every case.
  static func measure(quick: Bool) throws -> [MemoryResult] {
    try Subject.allCases.flatMap { subject in
      try CodecName.allCases.map { try measure(subject, $0, count: subject.count(quick: quick)) }
    }
  }

  /// One subject with one codec: the encoding child leaves its bytes in a file for the decoding child.
  private static func measure(_ subject: Subject, _ codec: CodecName, count: Int) throws -> MemoryResult {
    StandardError.print("memory: \(count) \(subject) as \(codec)")
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "stow-benchmarks-\(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: file) }
    func run(_ direction: Direction) throws -> [Double] {
      try ChildProcess.numbers([
        Options.memoryChild, codec.rawValue, subject.rawValue, String(count), direction.rawValue, file.path,
      ])
    }
    let encoding = try run(.encode)
    let decoding = try run(.decode)
    let value = Int(encoding[0])
    return MemoryResult(
      payload: subject.rawValue, count: count, codec: codec.rawValue, value: value, output: Int(encoding[1]),
      encodePeak: Int(encoding[2]), decodePeak: max(0, Int(decoding[0]) - value))
  }

  /// What a child process does, told by the arguments after its option.
  static func runChild(_ arguments: [String]) throws {
    guard arguments.count == 5, let codec = CodecName(rawValue: arguments[0]),
      let subject = Subject(rawValue: arguments[1]), let count = Int(arguments[2]),
      let direction = Direction(rawValue: arguments[3])
    else { throw UsageError("\(Options.memoryChild) is for this program's own use") }
    let file = URL(fileURLWithPath: arguments[4])
    switch subject {
    case .people: try runChild(codec.make(), direction, file) { Person.make(count: count) }
    case .doubles: try runChild(codec.make(), direction, file) { Numbers.doubles(count: count) }
    }
  }

  /// Prints the value's own size, the bytes written and the peak beyond the value; or, decoding, the peak
  /// beyond the bytes read, in which the value is contained.
  private static func runChild<Value: Codable>(
    _ codec: any Codec, _ direction: Direction, _ file: URL, make: () -> Value
  ) throws {
    switch direction {
    case .encode:
      ResidentMemory.resetPeak()
      let empty = ResidentMemory.current()
      let value = make()
      ResidentMemory.resetPeak()
      let before = ResidentMemory.current()
      let bytes = try codec.encode(value)
      let peak = ResidentMemory.peak()
      try bytes.write(to: file)
      print(before - empty, bytes.count, peak - before)
      blackHole(value)
    case .decode:
      let bytes = try Data(contentsOf: file)
      ResidentMemory.resetPeak()
      let before = ResidentMemory.current()
      let value = try codec.decode(Value.self, from: bytes)
      print(ResidentMemory.peak() - before)
      blackHole(value)
    }
  }
}
