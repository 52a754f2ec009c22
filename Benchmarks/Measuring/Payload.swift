import Foundation
import Stow

/// Something to measure: its name, and the way to make it.
struct Payload: Sendable {
  /// Whether a payload counts for the core mean: records of the kinds most programs store, as against arrays
  /// of one kind of value, where any binary format is far ahead, and cases made to be difficult.
  enum Group: Sendable {
    case core, other
    /// Measured only if a filter chooses it.
    case onDemand
  }

  let source: Source
  let name: String
  let summary: String
  let isCore: Bool
  let isOnDemand: Bool
  private let prepareWorkload: @Sendable (Bool) throws -> Workload

  /// One value, encoded by one call.
  init<Value: Codable & Equatable & Sendable>(
    _ name: String, _ summary: String, _ group: Group, make: @escaping @Sendable () throws -> Value
  ) {
    self.init(name, summary, group) { withPropertyList in
      let values = [try make()]
      return try Workload(sources: values, targets: values, .both, withPropertyList)
    }
  }

  /// The same, and beside it a type with a table of fields.
  init<Value: Codable & Equatable & Sendable, Tabled: Codable & Sendable>(
    _ name: String, _ summary: String, _ group: Group, tabled: Tabled.Type,
    make: @escaping @Sendable () throws -> Value
  ) {
    self.init(name, summary, group) { withPropertyList in
      let values = [try make()]
      var workload = try Workload(sources: values, targets: values, .both, withPropertyList)
      try workload.add(tabled, values, by: StowCodec())
      return workload
    }
  }

  /// Many values, each encoded by a call of its own.
  init<Value: Codable & Equatable & Sendable>(
    each name: String, _ summary: String, _ group: Group, make: @escaping @Sendable () -> [Value]
  ) {
    self.init(name, summary, group) { withPropertyList in
      let values = make()
      return try Workload(sources: values, targets: values, .both, withPropertyList)
    }
  }

  /// The same, and beside it a type with a table of fields.
  init<Value: Codable & Equatable & Sendable, Tabled: Codable & Sendable>(
    each name: String, _ summary: String, _ group: Group, tabled: Tabled.Type,
    make: @escaping @Sendable () -> [Value]
  ) {
    self.init(name, summary, group) { withPropertyList in
      let values = make()
      var workload = try Workload(sources: values, targets: values, .both, withPropertyList)
      try workload.add(tabled, values, by: StowCodec())
      return workload
    }
  }

  /// Many values, each encoded by a call of its own that lends the bytes; only encoding is timed.
  init<Value: Codable & Equatable & Sendable, Tabled: Codable & Sendable>(
    lending name: String, _ summary: String, tabled: Tabled.Type,
    make: @escaping @Sendable () -> [Value]
  ) {
    self.init(name, summary, .other) { withPropertyList in
      let values = make()
      var workload = try Workload(sources: values, targets: values, .lending, withPropertyList)
      try workload.add(tabled, values, by: StowCodec())
      return workload
    }
  }

  /// The same, in a context that was learnt from the first of the values, and that no message names.
  init<Value: Codable & Equatable & Sendable, Tabled: Codable & Sendable>(
    each name: String, _ summary: String, _ group: Group, tabled: Tabled.Type, learning count: Int,
    make: @escaping @Sendable () -> [Value]
  ) {
    self.init(name, summary, group) { withPropertyList in
      let values = make()
      let codec = StowCodec(try StowContext(learningFrom: Array(values.prefix(count))))
      var workload = try Workload(sources: values, targets: values, .both, withPropertyList, by: codec)
      try workload.add(tabled, values, by: codec)
      return workload
    }
  }

  /// Objects that are decoded as some other type than they were encoded from; only decoding is timed.
  init<Source: Encodable & Sendable, Target: Decodable & Equatable & Sendable>(
    reading name: String, _ summary: String,
    make: @escaping @Sendable () -> (objects: [Source], records: [Target])
  ) {
    self.init(name, summary, .other) { withPropertyList in
      let (objects, records) = make()
      return try Workload(sources: objects, targets: records, .decoding, withPropertyList)
    }
  }

  /// A parsed document, whose JSON is as small as JSON can be. Its name is that of the file.
  init(document path: String, _ value: JSONValue) {
    let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    let source = Source(kind: .document, name: path)
    self.init(name, "the document \(name).json as a generic value", .other, source) { withPropertyList in
      var workload = try Workload(sources: [value], targets: [value], .both, withPropertyList)
      workload.bytes.json = MinifiedJSON.count(value)
      return workload
    }
  }

  private init(
    _ name: String, _ summary: String, _ group: Group, _ source: Source? = nil,
    prepare: @escaping @Sendable (Bool) throws -> Workload
  ) {
    self.source = source ?? Source(kind: .catalogue, name: name)
    self.name = name
    self.summary = summary
    isCore = group == .core
    isOnDemand = group == .onDemand
    prepareWorkload = prepare
  }

  /// Makes the value, encodes it with each codec and checks that Stow gives it back.
  func prepare(withPropertyList: Bool) throws -> Workload {
    do {
      return try prepareWorkload(withPropertyList)
    } catch let failure as Workload.RoundTripFailure {
      throw PayloadFailure(description: "\(name): \(failure.description)")
    } catch {
      throw PayloadFailure(description: "\(name): \(error)")
    }
  }
}

/// A payload that cannot be measured.
struct PayloadFailure: Error, CustomStringConvertible {
  let description: String
}

extension Payload {
  /// Where a payload comes from, to be told to a child process.
  struct Source: Sendable {
    enum Kind: String {
      case catalogue, document
    }

    let kind: Kind
    /// The name in the catalogue, or the path of the document.
    let name: String
  }

  /// The payload that comes from `source`; nil if the catalogue has none of its name.
  init?(_ source: Source) throws {
    switch source.kind {
    case .document: try self.init(documentAt: source.name)
    case .catalogue:
      guard let payload = Catalogue.payloads.first(where: { $0.name == source.name }) else { return nil }
      self = payload
    }
  }

  /// A JSON file as a payload.
  init(documentAt path: String) throws {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw PayloadFailure(description: "\(path) cannot be read")
    }
    do {
      self.init(document: path, try DocumentParser.parse(Array(bytes)))
    } catch let failure as DocumentParser.Failure {
      throw PayloadFailure(description: "\(path) is not JSON: \(failure.description)")
    }
  }
}

extension Payload {
  /// Everything there is to say of this payload, found out by processes of their own: in one that held other values
  /// before, memory lies scattered in what they left free, which costs the faster side more.
  ///
  /// Where code and memory come to lie in a process makes decoding strings a third slower in one process of five, so
  /// a figure is the median of several.
  func measureInChildren(quick: Bool) throws -> PayloadResult {
    let arguments = [Options.payloadChild, quick ? "quick" : "thorough", source.kind.rawValue, source.name]
    let runs = quick ? 1 : 5
    let results = try (1...runs).map { run in
      if runs > 1 { StandardError.print("  process \(run) of \(runs)") }
      return try JSONDecoder().decode(PayloadResult.self, from: ChildProcess.output(arguments))
    }
    var result = results[0]
    result.encode = Timing(mediansOf: results.compactMap(\.encode))
    result.decode = Timing(mediansOf: results.compactMap(\.decode))
    return result
  }

  /// What a child process does, told by the arguments after its option.
  static func runChild(_ arguments: [String]) throws {
    guard arguments.count == 3, let kind = Source.Kind(rawValue: arguments[1]),
      let payload = try Payload(Source(kind: kind, name: arguments[2]))
    else { throw UsageError("\(Options.payloadChild) is for this program's own use") }
    let isQuick = arguments[0] == "quick"
    let result = try payload.measure(with: isQuick ? .quick : .thorough, withPropertyList: !isQuick)
    FileHandle.standardOutput.write(try JSONEncoder().encode(result))
  }

  /// Encodes and decodes a payload, with tables of fields, too, if its types have some, for `Benchmarks/counts`, which
  /// counts the instructions of each `countedPass`. Prints what the counts are of, in their order.
  static func runCounted(_ arguments: [String]) throws {
    guard arguments.count == 1, let payload = try Payload(Source(kind: .catalogue, name: arguments[0])) else {
      throw UsageError("\(Options.countChild) is for Benchmarks/counts")
    }
    let workload = try payload.prepare(withPropertyList: false)
    let passes = [
      ("encode", workload.encode?.stow), ("decode", workload.decode?.stow),
      ("encode table", workload.encode?.tabled), ("decode table", workload.decode?.tabled),
    ]
    for case (let name, let pass?) in passes {
      // What is made once in a process is made by the first.
      for _ in 1...3 { try pass() }
      try countedPass(pass)
      print(name)
    }
  }

  @inline(never)
  private static func countedPass(_ pass: Workload.Pass) throws { try pass() }

  /// Everything there is to say of this payload. The value is made for the occasion and dropped after it.
  private func measure(with sampler: Sampler, withPropertyList: Bool) throws -> PayloadResult {
    let workload = try prepare(withPropertyList: withPropertyList)
    return PayloadResult(
      name: name, summary: summary, isCore: isCore, calls: workload.calls, bytes: workload.bytes,
      encode: try workload.encode.map { try $0.measure(with: sampler) },
      decode: try workload.decode.map { try $0.measure(with: sampler) })
  }
}

extension Workload.Passes {
  /// The median time of each side.
  fileprivate func measure(with sampler: Sampler) throws -> Timing {
    let times = try sampler.medians(of: [stow, json, plist, floor, tabled])
    return Timing(
      stow: times[0] ?? .nan, json: times[1] ?? .nan, plist: times[2], tabled: times[4],
      floor: times[3] ?? .nan)
  }
}

/// A document as each of the types that hold any value, by whoever reads and writes them.
enum GenericValues {
  private enum Side: String, CaseIterable {
    case value = "StowValue, by Stow"
    case anyByStow = "enum JSONValue, by Stow"
    case anyByJSON = "enum JSONValue, by JSONDecoder and JSONEncoder"
    case serialization = "Any, by JSONSerialization"
  }

  /// Measures a document in processes of their own.
  static func measure(_ path: String, quick: Bool) throws -> GenericResult {
    StandardError.print("generic values: \(path)")
    let runs = try (0..<(quick ? 1 : 5)).map { _ in
      try ChildProcess.numbers([Options.genericChild, quick ? "quick" : "thorough", path])
    }
    let times = Side.allCases.indices.map { index in
      GenericResult.Times(
        side: Side.allCases[index].rawValue, encode: median(runs.map { $0[2 * index] }),
        decode: median(runs.map { $0[2 * index + 1] }))
    }
    let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
    return GenericResult(document: name, times: times)
  }

  /// What a child process does, told by the arguments after its option: prints the nanoseconds of encoding and decoding
  /// for each side.
  static func runChild(_ arguments: [String]) throws {
    guard arguments.count == 2, let bytes = FileManager.default.contents(atPath: arguments[1]) else {
      throw UsageError("\(Options.genericChild) is for this program's own use")
    }
    let document = try DocumentParser.parse(Array(bytes))
    let sampler = arguments[0] == "quick" ? Sampler.quick : Sampler.thorough
    let passes = try passes(document)
    // Taking turns: encoding on all sides, and then decoding.
    let encode = try sampler.medians(of: passes.map(\.encode))
    let decode = try sampler.medians(of: passes.map(\.decode))
    for (encode, decode) in zip(encode, decode) { print(encode ?? .nan, decode ?? .nan, separator: "\n") }
  }

  private static func passes(_ document: JSONValue) throws -> [(encode: Workload.Pass, decode: Workload.Pass)] {
    let (stow, json) = (StowCodec(), JSONCodec())
    let message = try stow.encode(document)
    let text = try json.encode(document)
    let value = try StowValue(from: message)
    guard try value.encoded() == message else {
      throw PayloadFailure(description: "a StowValue writes other bytes than it read")
    }
    nonisolated(unsafe) let any = try JSONSerialization.jsonObject(with: text)
    return [
      ({ blackHole(try stow.encode(value)) }, { blackHole(try stow.decode(StowValue.self, from: message)) }),
      ({ blackHole(try stow.encode(document)) }, { blackHole(try stow.decode(JSONValue.self, from: message)) }),
      ({ blackHole(try json.encode(document)) }, { blackHole(try json.decode(JSONValue.self, from: text)) }),
      (
        { blackHole(try JSONSerialization.data(withJSONObject: any)) },
        { blackHole(try JSONSerialization.jsonObject(with: text)) }
      ),
    ]
  }
}
