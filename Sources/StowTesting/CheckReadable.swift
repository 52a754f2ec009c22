import Stow
import StowRecords

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Checks that a type reads the messages of a folder, which earlier versions of the program wrote, and loses nothing.
///
/// ```swift
/// @Test func ordersOfAllVersionsCanBeRead() throws {
///   let folder = URL(filePath: #filePath).appending(path: "../Orders")
///   try checkReadable(Order.self, samples: Order.samples, in: folder)
/// }
/// ```
///
/// Each message is decoded, encoded again and compared. If no message has the key paths and kinds of a sample, the test fails;
/// with `STOW_RECORD=1` in the environment it writes the sample into the folder. A note tells what no sample has.
///
/// - Parameters:
///   - type: The type that the program decodes now.
///   - samples: Values of the present version that together have every optional and every case.
///   - folder: The folder of the messages, in the repository of the program.
///   - dropping: Key paths whose values may be lost or changed, such as `"lines[].note"`.
///   - defaults: The template that the program passes to `StowDecoder.decode(_:from:defaults:)`, if it does.
///   - encoder: Encodes the samples, and what was decoded.
///   - decoder: Decodes the messages.
/// - Throws: `ReadabilityError` with everything that is wrong.
public func checkReadable<Value: Codable>(
  _ type: Value.Type, samples: [Value], in folder: URL, dropping: Set<String> = [], defaults: Value? = nil,
  encoder: StowEncoder = StowEncoder(), decoder: StowDecoder = StowDecoder()
) throws {
  var check = ReadabilityCheck(dropping: dropping, defaults: defaults, encoder: encoder, decoder: decoder)
  let isRecording = ProcessInfo.processInfo.environment["STOW_RECORD"] == "1"
  check.check(samples, in: folder.standardizedFileURL, isRecording: isRecording)
  for note in check.notes { print(note) }
  try check.finish()
}

/// Checks the records of a log that earlier versions of the program appended, as
/// ``checkReadable(_:samples:in:dropping:defaults:encoder:decoder:)`` checks the messages of a folder.
///
/// - Throws: `ReadabilityError` with everything that is wrong.
public func checkReadable<Value: Codable>(
  _ type: Value.Type, in log: URL, dropping: Set<String> = [], defaults: Value? = nil,
  encoder: StowEncoder = StowEncoder(), decoder: StowDecoder = StowDecoder()
) throws {
  var check = ReadabilityCheck(dropping: dropping, defaults: defaults, encoder: encoder, decoder: decoder)
  check.check(log: log.standardizedFileURL)
  try check.finish()
}

/// What keeps a type from reading the data of earlier versions.
public struct ReadabilityError: Error, CustomStringConvertible {
  /// Everything that is wrong, a line each, and how to mend it.
  public let description: String
}

struct ReadabilityCheck<Value: Codable> {
  let dropping: Set<String>
  let defaults: Value?
  let encoder: StowEncoder
  let decoder: StowDecoder
  let watch = Watch()
  var problems: [String] = []
  var notes: [String] = []
  private var facts: Facts { watch.facts.withLock { $0 } }

  func finish() throws {
    let lines = (problems + facts.conflicts.sorted()).map { "\n- \($0)" }.joined()
    if lines.isEmpty { return }
    throw ReadabilityError(description: "\(Value.self) does not read all data of earlier versions:\(lines)")
  }

  /// Adds a problem, unless an earlier message has it, too.
  private mutating func add(_ problem: String, in name: String) {
    if !problems.contains(where: { $0.hasSuffix(": " + problem) }) { problems.append("\(name): \(problem)") }
  }

  mutating func check(_ samples: [Value], in folder: URL, isRecording: Bool) {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
    let names = (files ?? []).filter { $0.hasSuffix(".stow") }.sorted()
    let old = read(names) { try Data(contentsOf: folder.appending(path: names[$0])) }
    for (name, bytes, _) in old where name != Self.name(of: bytes) {
      add("The file was changed or renamed: its name would be \(Self.name(of: bytes)).", in: name)
    }
    let encoder = encoder
    let new = read(samples.indices.map { "samples[\($0)]" }) { try encoder.encode(samples[$0]) }
    let run = "Run this test once with STOW_RECORD=1 in the environment, and commit the files that it writes."
    var shapes = Set(old.map { facts.shape(of: $0.value) })
    for (name, bytes, value) in new where shapes.insert(facts.shape(of: value)).inserted {
      if isRecording {
        attempt(name) { _ in
          try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
          try bytes.write(to: folder.appending(path: Self.name(of: bytes)), options: .atomic)
        }
      } else if !names.isEmpty {
        let known = old.reduce(into: Set()) { $0.formUnion(facts.shape(of: $1.value)) }
        let parts = facts.shape(of: value).subtracting(known).sorted().joined(separator: ", ")
        add("No file has data of this shape\(parts.isEmpty ? "" : ": \(parts)"). \(run)", in: name)
      }
    }
    if names.isEmpty, !isRecording || new.isEmpty {
      add("The folder is missing or empty, so that nothing is checked. \(run)", in: folder.lastPathComponent)
    }
    notes = facts.uncovered(by: new.map(\.value)).map {
      "Note: no sample of \(Value.self) has \($0): it is not checked."
    }
  }

  private mutating func read(
    _ names: [String], _ bytes: (Int) throws -> Data
  ) -> [(name: String, bytes: Data, value: StowValue)] {
    zip(names.indices, names).compactMap { number, name in
      attempt(name) { check in
        let bytes = try bytes(number)
        return (name, bytes, try check.check(bytes, in: name))
      }
    }
  }

  mutating func check(log: URL) {
    let name = log.lastPathComponent
    attempt(name) { check in
      let reader = try RecordLogReader(at: log, decoder: check.decoder)
      for record in reader.records {
        _ = try check.check(record.decode(StowValue.self).encoded(), in: "record \(record.number) of \(name)")
      }
      for damage in reader.damage { check.add("The log is damaged: \(damage)", in: name) }
      if reader.count == 0 { check.add("The log has no records, so that nothing is checked.", in: name) }
    }
  }

  @discardableResult
  private mutating func attempt<Result>(_ name: String, _ body: (inout Self) throws -> Result) -> Result? {
    do { return try body(&self) } catch {
      add("It cannot be read or written: \(error)", in: name)
      return nil
    }
  }

  /// Returns a name made of the content: its hash by FNV-1a.
  static func name(of bytes: Data) -> String {
    let hash = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits + ".stow"
  }

  /// Decodes a message, encodes the value again, compares both, and returns what is in the message.
  private mutating func check(_ bytes: Data, in name: String) throws -> StowValue {
    let old = try decoder.decode(StowValue.self, from: bytes)
    do {
      let value =
        try defaults.map { try decoder.decode(Value.self, from: bytes, defaults: $0) }
        ?? decoder.decode(Value.self, from: bytes)
      let encoded = try encoder.encode(value)
      // Less is known of a type that cannot be watched.
      _ = try? encoded.withUnsafeBytes {
        try decoder.decode($0, at: []) { try watch.decode(Value.self, from: $0) }
      }
      let new = try decoder.decode(StowValue.self, from: encoded)
      for loss in facts.losses(from: old, to: new, dropping) { add(loss, in: name) }
    } catch { add(facts.words(for: error, old), in: name) }
    return old
  }
}
