import Foundation

/// Everything one run measured: what the JSON form holds, and what the other forms are made from.
/// Times are nanoseconds; ratios are JSON's time over the other's, so above 1 is faster than JSON.
struct Report: Codable {
  var version = 1
  var date: Date
  var quick: Bool
  var machine: Machine
  var payloads: [PayloadResult] = []
  var means: [MeanResult] = []
  var cold: [ColdResult]?
  var generic: [GenericResult]?
  var growth: [GrowthResult]?
  var memory: [MemoryResult]?
  var threads: [ThreadsResult]?
  var log: LogReport?
  var parts: PartReport?
}

/// The bytes of all messages of a payload. A codec that cannot hold it is nil.
struct EncodedSizes: Codable {
  var stow: Int
  var json: Int
  var plist: Int?
}

/// The median time of one pass, in nanoseconds, by each side.
struct Timing: Codable {
  let stow: Double
  let json: Double
  let plist: Double?
  /// Stow, where the types have tables of fields.
  let tabled: Double?
  let floor: Double
  let stowRatio: Double
  let plistRatio: Double?
  let tabledRatio: Double?
  let floorRatio: Double

  /// Derives the ratios from the times.
  init(stow: Double, json: Double, plist: Double?, tabled: Double?, floor: Double) {
    self.stow = stow
    self.json = json
    self.plist = plist
    self.tabled = tabled
    self.floor = floor
    stowRatio = json / stow
    plistRatio = plist.map { json / $0 }
    tabledRatio = tabled.map { json / $0 }
    floorRatio = json / floor
  }

  /// The medians of each side's times; nil if there are none.
  init?(mediansOf timings: [Timing]) {
    guard !timings.isEmpty else { return nil }
    let (plists, tabled) = (timings.compactMap(\.plist), timings.compactMap(\.tabled))
    self.init(
      stow: median(timings.map(\.stow)), json: median(timings.map(\.json)),
      plist: plists.isEmpty ? nil : median(plists), tabled: tabled.isEmpty ? nil : median(tabled),
      floor: median(timings.map(\.floor)))
  }
}

/// All figures of one payload.
struct PayloadResult: Codable {
  var name: String
  var summary: String
  var isCore: Bool
  var calls: Int
  var bytes: EncodedSizes
  var encode: Timing?
  var decode: Timing?

  /// Stow's size in percent of JSON's.
  var sizeShare: Double { Double(bytes.stow) / Double(bytes.json) * 100 }

  /// Takes the timings of another measurement where Stow's ratio to JSON is better there.
  mutating func keepBetter(of other: PayloadResult) {
    if let now = encode, let new = other.encode, new.stowRatio > now.stowRatio { encode = new }
    if let now = decode, let new = other.decode, new.stowRatio > now.stowRatio { decode = new }
  }
}

/// The geometric means over a group of payloads; nil where a figure is missing from all of them.
struct MeanResult: Codable {
  var name: String
  var payloads: Int
  var sizeShare: Double?
  var encodeRatio: Double?
  var encodePlistRatio: Double?
  var encodeFloorRatio: Double?
  var decodeRatio: Double?
  var decodePlistRatio: Double?
  var decodeFloorRatio: Double?

  /// The means over some payloads.
  init(name: String, of payloads: [PayloadResult]) {
    self.name = name
    self.payloads = payloads.count
    let encode = payloads.compactMap(\.encode)
    let decode = payloads.compactMap(\.decode)
    sizeShare = geometricMean(payloads.map(\.sizeShare))
    encodeRatio = geometricMean(encode.map(\.stowRatio))
    encodePlistRatio = geometricMean(encode.compactMap(\.plistRatio))
    encodeFloorRatio = geometricMean(encode.map(\.floorRatio))
    decodeRatio = geometricMean(decode.map(\.stowRatio))
    decodePlistRatio = geometricMean(decode.compactMap(\.plistRatio))
    decodeFloorRatio = geometricMean(decode.map(\.floorRatio))
  }

  /// The means worth showing: over all payloads, and over the core ones if those are fewer.
  static func all(of payloads: [PayloadResult]) -> [MeanResult] {
    let core = payloads.filter(\.isCore)
    var means: [MeanResult] = []
    if payloads.count > 1 { means.append(MeanResult(name: "all", of: payloads)) }
    if core.count > 1, core.count < payloads.count { means.append(MeanResult(name: "core", of: core)) }
    return means
  }
}

/// The first calls of a process, in nanoseconds.
struct ColdResult: Codable {
  var codec: String
  var encode: Double
  var decode: Double
}

/// A document as each of several types that hold any value, in nanoseconds.
struct GenericResult: Codable {
  struct Times: Codable {
    var side: String
    var encode: Double
    var decode: Double
  }

  var document: String
  var times: [Times]
}

/// The time of one record among many, in nanoseconds.
struct GrowthResult: Codable {
  var payload: String
  var records: Int
  var stowEncode: Double
  var jsonEncode: Double
  var floorEncode: Double
  var stowDecode: Double
  var jsonDecode: Double
}

/// Resident bytes: the value's own, and the peaks beyond it.
struct MemoryResult: Codable {
  var payload: String
  var count: Int
  var codec: String
  var value: Int
  var output: Int
  var encodePeak: Int
  var decodePeak: Int
}

/// Calls a second.
struct ThreadsResult: Codable {
  var name: String
  var oneThread: Double
  var twoThreads: Double
}

extension Report {
  /// The report as JSON, to keep and to compare with.
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .iso8601
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }

  /// A report that was kept.
  init(json: Data) throws {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    self = try decoder.decode(Report.self, from: json)
  }
}

/// A run held against an earlier one. Ratios to JSON are compared, not times: JSON is measured in the same
/// minute on the same machine, so it takes the machine out of the figures. Sizes are the same in every run.
struct Comparison {
  private let pairs: [(old: PayloadResult, new: PayloadResult)]
  private let tolerance: Double

  /// Compares the payloads that both reports have. `tolerance` is in percent; 40 if none is given, for ratios differ by
  /// a third between runs on a busy machine.
  init(baseline: Report, current: Report, tolerance: Double?) {
    let old = Dictionary(baseline.payloads.map { ($0.name, $0) }) { first, _ in first }
    pairs = current.payloads.compactMap { new in old[new.name].map { (old: $0, new: new) } }
    self.tolerance = tolerance ?? 40
  }

  /// Whether there was anything to compare.
  var isEmpty: Bool { pairs.isEmpty }

  /// What became worse than the tolerance allows, a line for each.
  var regressions: [String] {
    pairs.flatMap { old, new in
      var lines: [String] = []
      if new.bytes.stow > old.bytes.stow {
        lines.append("\(new.name): size grew from \(old.bytes.stow) to \(new.bytes.stow) bytes")
      }
      return lines + speedRegressions(old, new)
    }
  }

  /// The names of payloads that are coded more slowly than the tolerance allows.
  var slower: Set<String> { Set(pairs.filter { old, new in !speedRegressions(old, new).isEmpty }.map(\.new.name)) }

  /// Old and new figures side by side.
  var table: Table {
    var columns = [Table.Column(title: "payload", isText: true)]
    for group in ["bytes", "encode, x JSON", "decode, x JSON"] {
      columns += ["before", "now", "change"].map { Table.Column(group: group, title: $0) }
    }
    return Table(
      title: "Against the baseline (tolerance \(Figures.fixed(tolerance, 0)) %)", columns: columns,
      rows: pairs.map { old, new in
        [
          new.name, Figures.count(old.bytes.stow), Figures.count(new.bytes.stow),
          Figures.change(from: Double(old.bytes.stow), to: Double(new.bytes.stow)),
        ] + cells(old.encode?.stowRatio, new.encode?.stowRatio)
          + cells(old.decode?.stowRatio, new.decode?.stowRatio)
      })
  }

  /// What became slower than the tolerance allows.
  private func speedRegressions(_ old: PayloadResult, _ new: PayloadResult) -> [String] {
    regression("\(new.name): encode", old.encode?.stowRatio, new.encode?.stowRatio)
      + regression("\(new.name): decode", old.decode?.stowRatio, new.decode?.stowRatio)
  }

  /// A line if a ratio fell too far.
  private func regression(_ name: String, _ old: Double?, _ new: Double?) -> [String] {
    guard let old, let new, new < old * (1 - tolerance / 100) else { return [] }
    return ["\(name) fell from \(Figures.ratio(old)) to \(Figures.ratio(new)) times JSON's speed"]
  }

  /// A ratio before and now.
  private func cells(_ old: Double?, _ new: Double?) -> [String] {
    guard let old, let new else { return [Figures.ratio(old), Figures.ratio(new), Figures.none] }
    return [Figures.ratio(old), Figures.ratio(new), Figures.change(from: old, to: new)]
  }
}
