import Stow

/// What decoding has shown about a type. Its paths have `[]` for indices and for keys of dictionaries, which are data.
struct Facts: Sendable {
  var requests: Set<StowPath> = []
  /// By the key types, of which an object may have several.
  var formerNames: [StowPath: [ObjectIdentifier: FormerNames]] = [:]
  var conflicts: Set<String> = []
  var dictionaries: Set<StowPath> = []
  var sets: Set<StowPath> = []
  /// The values of all cases of enumerations that are `CaseIterable`.
  var cases: [StowPath: Set<StowValue>] = [:]

  func path(_ keys: [any CodingKey]) -> StowPath {
    func isIndex(_ key: any CodingKey) -> Bool { key.intValue.map { "Index \($0)" } == key.stringValue }
    return path(keys.map { isIndex($0) ? .each : .key($0.stringValue) })
  }

  private func path(_ steps: [StowPath.Step]) -> StowPath {
    steps.reduce(into: StowPath()) { $0.steps.append(dictionaries.contains($0) ? .each : $1) }
  }

  /// Returns a value and all values in it, each after the one that holds it. What has no order is sorted.
  private func parts(
    of value: StowValue, isRenaming: Bool = false, at steps: [StowPath.Step] = []
  ) -> [(steps: [StowPath.Step], path: StowPath, value: StowValue)] {
    let path = path(steps.map { if case .index = $0 { .each } else { $0 } })
    var children: [(StowPath.Step, StowValue)] = []
    if var elements = value.array {
      if sets.contains(path) { elements.sort { $0.description < $1.description } }
      if dictionaries.contains(path) {
        let pairs = stride(from: 0, to: elements.count, by: 2).map { Array(elements[$0...].prefix(2)) }
        elements = pairs.sorted { $0.description < $1.description }.flatMap { $0 }
      }
      children = elements.enumerated().map { (.index($0), $1) }
    } else if let object = value.object {
      let formerNames = isRenaming ? formerNames[path] ?? [:] : [:]
      let names = formerNames.values.reduce(object.keys) { $1.present($0) }
      children = zip(names, object.values).map { (.key($0), $1) }
    }
    return [(steps, path, value)]
      + children.flatMap { parts(of: $1, isRenaming: isRenaming, at: steps + [$0]) }
  }

  /// Returns the key paths of a value, each with its kind.
  func shape(of value: StowValue) -> Set<String> {
    Set(parts(of: value).map { "\(named($0.path)) (\($0.value.kind))" })
  }

  /// Returns a sentence for each path at which a value is no longer what it was.
  func losses(from old: StowValue, to new: StowValue, _ dropping: Set<String>) -> [String] {
    let values = Dictionary(uniqueKeysWithValues: parts(of: new).map { ($0.steps, $0.value) })
    var (done, losses): ([[StowPath.Step]], [String]) = ([], [])
    for (steps, path, value) in parts(of: old, isRenaming: true)
    where !done.contains(where: { steps.starts(with: $0) }) {
      let new = values[steps].flatMap { $0.isNull ? nil : $0 }
      // A default may have come in for nil.
      if value.isNull || new.map({ isSame(value, $0) }) == true { continue }
      done.append(steps)
      if dropping.contains(path.description) { continue }
      let result = new.map { shortened($0) } ?? "nothing"
      let name = path.steps.last.flatMap { if case .key(let key) = $0 { key } else { nil } }
      let mend =
        name.map { "If \"\($0)\" has another name now, list it in the formerNames of its CodingKeys. " } ?? ""
      losses.append(
        "\(named(path)): \(shortened(value)) was read as \(result). \(new == nil ? mend : "")"
          + "If that is meant, add \"\(path)\" to dropping.")
    }
    return losses
  }

  private func isSame(_ old: StowValue, _ new: StowValue) -> Bool {
    switch (old, new) {
    case (.object, .object): true
    case (.array(let old), .array(let new)): old.count == new.count
    case (.integer(let integer), .double(let number)): Double(exactly: integer) == number
    default: old == new
    }
  }

  /// Returns what none of some values has.
  func uncovered(by samples: [StowValue]) -> [String] {
    var values: [StowPath: Set<StowValue>] = [:]
    for part in samples.flatMap({ parts(of: $0) }) where !part.value.isNull {
      values[part.path, default: []].insert(part.value)
    }
    let cases = cases.flatMap { path, cases in
      cases.subtracting(values[path] ?? cases).map { "\($0) as \(path)" }
    }
    return (requests.filter { values[$0] == nil }.map(\.description) + cases).sorted()
  }

  func words(for error: any Error, _ data: StowValue) -> String {
    guard let error = error as? DecodingError, let context = error.context else {
      return "It cannot be read and written again: \(error)"
    }
    let key: [any CodingKey] = if case .keyNotFound(let key, _) = error { [key] } else { [] }
    let found = context.codingPath.reduce(data) { value, key in
      value?[key.stringValue] ?? key.intValue.flatMap { value?[$0] }
    }
    let place = named(path(context.codingPath + key))
    switch error {
    case .keyNotFound:
      return
        "\(place): the program requires it now, and earlier data lacks it. If it had another name, list that in the "
        + "formerNames of its CodingKeys; if it is new, make it optional or give it a default."
    case .valueNotFound:
      return "\(place): the program requires it now, and it is nil in earlier data. Make it optional."
    case .typeMismatch(let type, _) where context.debugDescription.hasPrefix("Invalid number of keys"):
      let name = found?.object?.keys.joined(separator: ", ") ?? ""
      return
        "\(place): \(type) lacks the case \"\(name)\" of earlier data. If it has another name now, list \"\(name)\" "
        + "in the formerNames of its CodingKeys; if it was removed, keep it."
    default:
      let reason = context.debugDescription
      let isCase = reason.hasPrefix("Cannot initialize")
      return "\(place): \(reason)\(reason.hasSuffix(".") ? "" : ".")"
        + (found.map { " Earlier data has \(shortened($0)) there." } ?? "")
        + (isCase ? " If a case was renamed or removed, let init?(rawValue:) accept its old value." : "")
    }
  }

  private func named(_ path: StowPath) -> String { path.steps.isEmpty ? "the whole value" : path.description }

  private func shortened(_ value: StowValue) -> String {
    let text = value.description
    return text.count > 60 ? text.prefix(60) + "…" : text
  }
}
