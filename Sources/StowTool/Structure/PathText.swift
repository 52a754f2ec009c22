import Stow

/// Where something stands in a value, as text: `people[3].name`.
struct PathText: CustomStringConvertible {
  private var text = ""

  /// The value itself.
  init() {}

  private init(_ text: String) { self.text = text }

  /// The path where this is one inside the value for a key.
  func inside(_ key: String) -> PathText {
    PathText(Self.step(key) + (text.isEmpty || text.hasPrefix("[") ? "" : ".") + text)
  }

  /// The path where this is one inside an element.
  func inside(_ index: Int) -> PathText {
    PathText("[\(index)]" + (text.isEmpty || text.hasPrefix("[") ? "" : ".") + text)
  }

  /// The path where this is one inside what another path leads to.
  func inside(_ path: StowPath) -> PathText {
    path.steps.reversed().reduce(self) { text, step in
      switch step {
      case .key(let key): text.inside(key)
      case .index(let index): text.inside(index)
      case .each: text
      }
    }
  }

  /// A key as it stands at the front of a path: in quotes and brackets unless it is a name.
  static func step(_ key: String) -> String { StowPath([.key(key)]).description }

  var description: String { text.isEmpty ? "the top" : text }
}
