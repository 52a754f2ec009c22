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
