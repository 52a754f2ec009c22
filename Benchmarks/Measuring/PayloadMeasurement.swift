extension Payload {
  /// Everything there is to say of this payload. The value is made for the occasion and dropped after it.
  func measure(with sampler: Sampler, withPropertyList: Bool) throws -> PayloadResult {
    let workload = try prepare(withPropertyList: withPropertyList)
    return PayloadResult(
      name: name, summary: summary, isCore: isCore, calls: workload.calls, bytes: workload.bytes,
      encode: try workload.encode.map { try $0.measure(with: sampler) },
      decode: try workload.decode.measure(with: sampler))
  }
}

extension Workload.Passes {
  /// The median time of each side.
  fileprivate func measure(with sampler: Sampler) throws -> Timing {
    let times = try sampler.medians(of: [stow, json, plist, floor])
    return Timing(stow: times[0] ?? .nan, json: times[1] ?? .nan, plist: times[2], floor: times[3] ?? .nan)
  }
}
