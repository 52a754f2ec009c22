/// `types`: Swift source for values.
enum Types {
  static let verb = Verb(
    name: "types", operands: "[options] FILE …", files: 1...Int.max,
    summary: "writes Swift types that decode values, and tables of their fields",
    details: """
      Objects become structs that are Codable, named after their keys. All values of the files, and all records of logs and
      streams, have one type: a key that some objects lack, or that is null in some, becomes an optional. What has values of
      several kinds is a StowValue, and so are the elements of empty arrays. Integers beside floating-point numbers are Doubles.

      Objects become dictionaries if each key is a UUID or begins with a digit; if there are more than \(Objects.mostKeys) keys; or if there
      are more than \(Objects.fewestKeys), none of them is in all objects, and their values are of one type.

      Values that are decoded with the types and encoded again stay what they are, with two exceptions: the key of an
      optional that is null is left out, and an integer beside floating-point numbers becomes a Double.
      """,
    options: Contents.options + [
      Option("--name", "NAME", "what the type of a value is called; Root by default"),
      Option("--fields", nil, "also write the table of fields of each struct, which makes coding faster"),
    ]
  ) { arguments in
    let name = arguments.value("--name") ?? "Root"
    guard SwiftNames.isTypeName(name) else {
      throw Failure("--name needs a free name for a type, such as Station, not \"\(name)\"")
    }
    let shape = Shape()
    var (count, isWhole) = (0, true)
    for file in arguments.files {
      isWhole =
        try Contents.forEach(in: file, arguments) { value, _ in
          shape.add(value)
          count += 1
        } && isWhole
    }
    guard count > 0 else { throw Failure("\(arguments.files.joined(separator: ", ")): no values", .differs) }
    var output = Output()
    output.text(SwiftSource(of: shape, name: name, fields: arguments.has("--fields")).text)
    output.flush()
    return isWhole ? .fine : .differs
  }
}
