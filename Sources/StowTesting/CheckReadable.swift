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
/// let folder = URL(filePath: #filePath).appending(path: "../Orders")
/// try checkReadable(Order.self, samples: Order.samples, in: folder)
/// ```
///
/// Each message is decoded, encoded again and compared. If no message has the key paths and kinds of a sample, the test
/// fails; with `STOW_RECORD=1` in the environment it writes the sample into the folder. A note tells what no sample
/// has.
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
  let check = ReadabilityCheck(dropping: dropping, defaults: defaults, encoder: encoder, decoder: decoder)
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
  let check = ReadabilityCheck(dropping: dropping, defaults: defaults, encoder: encoder, decoder: decoder)
  check.check(log: log.standardizedFileURL)
  try check.finish()
}

/// What keeps a type from reading the data of earlier versions.
public struct ReadabilityError: Error, CustomStringConvertible {
  /// Everything that is wrong, a line each, and how to mend it.
  public let description: String
}

/// The check of one type: reads messages, collects what is wrong, and notes what the type asks for.
///
/// Paths have `[]` for indices and for keys of dictionaries, which are data.
final class ReadabilityCheck<Value: Codable>: DecodingObserver {
  private typealias Message = (name: String, bytes: Data, value: StowValue)
  private var dropping: Set<String>
  private let defaults: Value?
  private let encoder: StowEncoder
  private let decoder: StowDecoder
  private var problems: [String] = []
  private var told: Set<String> = []
  private(set) var notes: [String] = []
  private var noted: [StowPath: Set<ObjectIdentifier>] = [:]
  private var formerNames: [StowPath: [FormerNames]] = [:]
  /// Where elements have no order, and how many of them belong together: 1 in sets, 2 in dictionaries.
  private var unordered: [StowPath: Int] = [:]
  /// What messages have or may have and no sample has, as notes name it.
  private var uncovered: Set<String> = []

  init(dropping: Set<String>, defaults: Value?, encoder: StowEncoder, decoder: StowDecoder) {
    (self.dropping, self.defaults, self.encoder, self.decoder) = (dropping, defaults, encoder, decoder)
  }

  func finish() throws {
    if problems.isEmpty { return }
    let lines = problems.map { "\n- \($0)" }.joined()
    throw ReadabilityError(description: "\(Value.self) does not read all data of earlier versions:\(lines)")
  }

  /// Adds a problem, unless another message has it, too.
  private func add(_ problem: String, in name: String) {
    if told.insert(problem).inserted { problems.append("\(name): \(problem)") }
  }

  // MARK: folders and logs

  func check(_ samples: [Value], in folder: URL, isRecording: Bool) {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
    let names = (files ?? []).filter { $0.hasSuffix(".stow") }.sorted()
    let old = names.compactMap { name in read(name) { try Data(contentsOf: folder.appending(path: name)) } }
    for (name, bytes, _) in old where name != Self.name(of: bytes) {
      add("The file was changed or renamed: its name would be \(Self.name(of: bytes)).", in: name)
    }
    let new = samples.enumerated().compactMap { number, sample in
      read("samples[\(number)]") { try encoder.encode(sample) }
    }
    for (path, value) in new.flatMap({ parts(of: $0.value) }) where value.kind != .null {
      uncovered.subtract([named(path), "\(value) as \(named(path))"])
    }
    notes = uncovered.sorted().map { "Note: no sample of \(Value.self) has \($0): it is not checked." }

    let run = "Run this test once with STOW_RECORD=1 in the environment, and commit the files that it writes."
    if names.isEmpty, !isRecording || new.isEmpty {
      let problem = "The folder is missing or empty, so that nothing is checked. \(run)"
      return add(problem, in: folder.lastPathComponent)
    }
    var shapes = Set(old.map { shape(of: $0.value) })
    let known = Set(shapes.joined())
    for (name, bytes, value) in new where shapes.insert(shape(of: value)).inserted {
      if isRecording {
        do {
          try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
          try bytes.write(to: folder.appending(path: Self.name(of: bytes)), options: .atomic)
        } catch { add(words(for: error), in: name) }
      } else {
        let part = shape(of: value).subtracting(known).sorted().joined(separator: ", ")
        add("No file has data of this shape\(part.isEmpty ? "" : ": \(part)"). \(run)", in: name)
      }
    }
  }

  func check(log: URL) {
    let name = log.lastPathComponent
    do {
      let reader = try RecordLogReader(at: log, decoder: decoder)
      for record in reader.records {
        read("record \(record.number) of \(name)") { try encoder.encode(record.decode(StowValue.self)) }
      }
      for damage in reader.damage { add("The log is damaged: \(damage)", in: name) }
      if reader.count == 0 { add("The log has no records, so that nothing is checked.", in: name) }
    } catch { add(words(for: error), in: name) }
  }

  /// Returns the name of a file with these bytes.
  static func name(of bytes: Data) -> String { String(bytes.withUnsafeBytes { Checksum.of($0) }, radix: 16) + ".stow" }

  // MARK: one message

  /// Decodes a message, encodes the value again, and compares the two. Returns the message, unless it cannot be read at
  /// all.
  @discardableResult
  private func read(_ name: String, _ bytes: () throws -> Data) -> Message? {
    var message: Message?
    do {
      let bytes = try bytes()
      let old = try decoder.decode(StowValue.self, from: bytes)
      message = (name, bytes, old)
      let value =
        try defaults.map { try decoder.decode(Value.self, from: bytes, defaults: $0) }
        ?? decoder.decode(Value.self, from: bytes)
      let encoded = try encoder.encode(value)
      // Values that only a template completes tell less.
      _ = try? encoded.withUnsafeBytes { try decoder.decode(Value.self, $0, observer: self) }
      let new = try decoder.decode(StowValue.self, from: encoded)
      uncovered.formUnion(parts(of: new).map { named($0.path) })
      compare(old, new, in: name)
    } catch { add(words(for: error, in: message?.value), in: name) }
    return message
  }

  /// Adds a problem for each path at which a value is no longer what it was.
  private func compare(_ old: StowValue, _ new: StowValue?, at path: StowPath = [], in name: String) {
    let new = new?.kind == .null ? nil : new
    // A default may have come in for nil.
    if old.kind == .null || dropping.contains(path.description) { return }
    if let object = old.object, let new = new?.object {
      let keys = formerNames[path, default: []].reduce(object.keys) { $1.present($0) }
      for (key, value) in zip(keys, object.values) {
        compare(value, new[key], at: self.path(to: key, in: path), in: name)
      }
    } else if let old = old.array, let new = new?.array, old.count == new.count {
      for (old, new) in zip(ordered(old, at: path), ordered(new, at: path)) {
        compare(old, new, at: path.appending([.each]), in: name)
      }
    } else if new.map({ isSame(old, $0) }) != true {
      var sentence = "\(named(path)): \(shortened(old)) was read as \(new.map(shortened) ?? "nothing"). "
      if new == nil, case .key(let key)? = path.steps.last {
        sentence += "If \"\(key)\" has another name now, list it in the formerNames of its CodingKeys. "
      }
      add("\(sentence)If that is meant, add \"\(path)\" to dropping.", in: name)
      // Each path is told once.
      dropping.insert(path.description)
    }
  }

  /// Returns whether two values are equal, or the same number of different types.
  private func isSame(_ old: StowValue, _ new: StowValue) -> Bool {
    func number(_ value: StowValue) -> Decimal? { try? value.decode(Decimal.self) }
    return old == new || number(old) != nil && number(old) == number(new)
  }

  /// Returns what an error means for those who changed the type.
  private func words(for error: any Error, in message: StowValue? = nil) -> String {
    guard let message else { return "It cannot be read or written: \(error)" }
    guard let error = error as? DecodingError, let context = error.context else {
      return "It cannot be read and written again: \(error)"
    }
    let key: [any CodingKey] = if case .keyNotFound(let key, _) = error { [key] } else { [] }
    let place = named(path(context.codingPath + key))
    let found = context.codingPath.reduce(message) { value, key in
      value?[key.stringValue] ?? key.intValue.flatMap { value?[$0] }
    }
    let name = found?.object?.keys.joined(separator: ", ") ?? ""
    let reason = context.debugDescription
    let meaning =
      switch error {
      case .keyNotFound:
        "the program requires it now, and earlier data lacks it. If it had another name, list that in the "
          + "formerNames of its CodingKeys; if it is new, make it optional or pass a template as defaults."
      case .valueNotFound:
        "the program requires it now, and it is nil in earlier data. Make it optional."
      case .typeMismatch(let type, _) where reason.hasPrefix("Invalid number of keys"):
        "\(type) lacks the case \"\(name)\" of earlier data. If it has another name now, list \"\(name)\" "
          + "in the formerNames of its CodingKeys; if it was removed, keep it."
      default:
        (reason.hasSuffix(".") ? reason : reason + ".")
          + (found.map { " Earlier data has \(shortened($0)) there." } ?? "")
          + (reason.hasPrefix("Cannot initialize")
            ? " If a case was renamed or removed, let init?(rawValue:) accept its old value." : "")
      }
    return "\(place): \(meaning)"
  }

  private func shortened(_ value: StowValue) -> String {
    let text = value.description
    return text.count > 60 ? text.prefix(60) + "…" : text
  }

  // MARK: what the type asks for

  func note(_ type: Any.Type, at codingPath: [any CodingKey]) {
    let path = path(codingPath)
    guard noted[path, default: []].insert(ObjectIdentifier(type)).inserted else { return }
    if type is any SetAlgebra.Type { unordered[path] = 1 }
    if type is any ExpressibleByDictionaryLiteral.Type { unordered[path] = 2 }
    if let keyType = type as? any CodingKey.Type, let names = FormerNames(of: keyType) {
      formerNames[path, default: []].append(names)
      if let conflict = names.conflict { add(conflict, in: named(path)) }
    }
    guard let type = type as? any CaseIterable.Type else { return }
    for value in type.allCases {
      if let key = value as? any CodingKey {
        noteMissing(codingPath + [key])
      } else if let value = value as? any Encodable, let value = try? StowValue(encoding: value) {
        if value.object == nil { uncovered.insert("\(value) as \(named(path))") }
      }
    }
  }

  func noteMissing(_ codingPath: [any CodingKey]) { uncovered.insert(named(path(codingPath))) }

  private func path(_ codingPath: [any CodingKey]) -> StowPath {
    codingPath.reduce([]) { path, key in
      let isIndex = key.intValue.map { "Index \($0)" } == key.stringValue
      return isIndex ? path.appending([.each]) : self.path(to: key.stringValue, in: path)
    }
  }

  private func path(to key: String, in object: StowPath) -> StowPath {
    object.appending([unordered[object] == 2 ? .each : .key(key)])
  }

  private func named(_ path: StowPath) -> String { path.steps.isEmpty ? "the whole value" : path.description }

  /// Returns a value and all values in it.
  private func parts(of value: StowValue, at path: StowPath = []) -> [(path: StowPath, value: StowValue)] {
    let elements = value.array?.map { parts(of: $0, at: path.appending([.each])) }
    let members = value.object?.map { parts(of: $1, at: self.path(to: $0, in: path)) }
    return [(path, value)] + (elements ?? members ?? []).joined()
  }

  /// Returns the key paths of a value, each with its kind.
  private func shape(of value: StowValue) -> Set<String> {
    Set(parts(of: value).map { "\(named($0.path)) (\($0.value.kind))" })
  }

  /// Sorts the elements of a set, and the pairs of a dictionary.
  private func ordered(_ elements: [StowValue], at path: StowPath) -> [StowValue] {
    guard let size = unordered[path] else { return elements }
    let groups = stride(from: 0, to: elements.count, by: size).map { elements[$0...].prefix(size) }
    return groups.sorted { $0.description < $1.description }.flatMap { $0 }
  }
}
