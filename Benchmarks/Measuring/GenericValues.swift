import Foundation
import Stow

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

  private static func passes(_ document: JSONValue) throws -> [(encode: Workload.Pass, decode: Workload.Pass)]
  {
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
      (
        { blackHole(try stow.encode(document)) },
        { blackHole(try stow.decode(JSONValue.self, from: message)) }
      ),
      ({ blackHole(try json.encode(document)) }, { blackHole(try json.decode(JSONValue.self, from: text)) }),
      (
        { blackHole(try JSONSerialization.data(withJSONObject: any)) },
        { blackHole(try JSONSerialization.jsonObject(with: text)) }
      ),
    ]
  }
}
