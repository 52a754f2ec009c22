import Stow
import StowNotation

/// `json` and `from-json`: values to JSON, and back.
enum JSONVerbs {
  private static let typed = Option(
    "--typed", nil, "write what JSON lacks as objects of one key: {\"$date\": …}")

  static let toJSON = Verb(
    name: "json", operands: "[options] FILE …", files: 1...Int.max,
    summary: "writes values as JSON",
    details: """
      What JSON lacks is written as JSONEncoder writes it: dates as seconds since 2001, data in Base64, UUIDs and URLs as
      strings, decimal numbers as numbers, and every level of nil as null. It has nothing for NaN and infinity. With
      --typed all of these are objects of one key, and stowtool from-json --typed makes the same value of them again:

        {"$null": 2}  {"$float": "nan"}  {"$date": "2026-11-23T10:00:00Z"}  {"$data": "AAEC"}  {"$uuid": "…"}
        {"$url": "…"}  {"$decimal": "12.5"}  {"$object": {"$date": 1}}: an object that has such a key itself
      """,
    options: Contents.options + [typed] + Lines.options,
    run: writeJSON)

  static let fromJSON = Verb(
    name: "from-json", operands: "[options] FILE", files: 1...1,
    summary: "makes a message of JSON",
    details: """
      Numbers without a point or an exponent become integers, of up to 128 bits; others become Doubles. The keys of
      objects stay in their order, and none may stand twice. With --log, each line of the file is a value: JSON Lines.
      """,
    options: [Option("--typed", nil, "read {\"$date\": …} and the like as what they stand for")]
      + Parse.options
  ) { arguments in
    let meaning: NotationText.Meaning? = arguments.has("--typed") ? { try TypedJSON.decoded($0) } : nil
    return try Parse.write(arguments) { NotationText($0, isJSON: true, meaning: meaning) }
  }

  private static func writeJSON(_ arguments: Arguments) async throws -> ExitCode {
    var writer = NotationWriter(width: try Lines.width(arguments))
    let isTyped = arguments.has("--typed")
    if !isTyped { writer.replacement = PlainJSON.text }
    return try await Lines.write(arguments, writer) { value, place, part in
      if isTyped { return TypedJSON.encoded(value) }
      if let path = PlainJSON.pathOfNonfinite(in: value)?.inside(part) {
        throw Failure("\(place): JSON has no number for what stands at \(path); use --typed", .differs)
      }
      return value
    }
  }
}
