import Foundation

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

  /// Encodes or decodes a payload, for `Benchmarks/counts`, which counts the instructions of `countedPass`.
  static func runCounted(_ arguments: [String]) throws {
    guard arguments.count == 2, let payload = try Payload(Source(kind: .catalogue, name: arguments[0])) else {
      throw UsageError("\(Options.countChild) is for Benchmarks/counts")
    }
    let workload = try payload.prepare(withPropertyList: false)
    guard let pass = arguments[1] == "encode" ? workload.encode : workload.decode else { return }
    // What is made once in a process is made by the first.
    for _ in 1...3 { try pass.stow() }
    try countedPass(pass.stow)
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
