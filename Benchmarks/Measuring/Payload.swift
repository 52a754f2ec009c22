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
      var workload = try Workload(
        sources: [value], targets: [value], .both, withPropertyList)
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
