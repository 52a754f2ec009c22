import Foundation

/// The first encode and decode of a process: what an app pays at its start, before anything is cached.
enum ColdStart {
  static let name = "cold"
  static let summary = "the first encode and decode of 10 people in a fresh process"

  /// Medians over several child processes of each codec, in turn.
  static func measure(quick: Bool) throws -> [ColdResult] {
    var samples: [CodecName: [[Double]]] = [:]
    for _ in 0..<(quick ? 5 : 15) {
      for codec in CodecName.allCases {
        samples[codec, default: []].append(try ChildProcess.numbers([Options.coldChild, codec.rawValue]))
      }
    }
    return CodecName.allCases.map { codec in
      let runs = samples[codec, default: []]
      return ColdResult(
        codec: codec.rawValue, encode: median(runs.map { $0[0] }), decode: median(runs.map { $0[1] }))
    }
  }

  /// What the child process does: prints two times in nanoseconds.
  static func runChild(_ codec: CodecName) throws {
    let people = Person.make(count: 10)
    let codec = codec.make()
    var message = Data()
    let encode = try Clock.time { message = try codec.encode(people) }
    var decoded: [Person] = []
    let decode = try Clock.time { decoded = try codec.decode([Person].self, from: message) }
    guard decoded == people else {
      throw Workload.RoundTripFailure(description: "cold: the round trip fails")
    }
    print(encode, decode)
  }
}
