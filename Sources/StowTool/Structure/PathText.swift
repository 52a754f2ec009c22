import Stow

/// The place of something in a value, as text: `people[3].name`.
struct PathText: CustomStringConvertible {
  private var text = ""

  /// The value itself.
  init() {}

  private init(_ text: String) { self.text = text }

  /// Returns this path inside the value for a key.
  func inside(_ key: String) -> PathText {
    PathText(Self.step(key) + (text.isEmpty || text.hasPrefix("[") ? "" : ".") + text)
  }

  /// Returns this path inside an element.
  func inside(_ index: Int) -> PathText {
    PathText("[\(index)]" + (text.isEmpty || text.hasPrefix("[") ? "" : ".") + text)
  }

  /// Returns this path inside what another path leads to.
  func inside(_ path: StowPath) -> PathText {
    path.steps.reversed().reduce(self) { text, step in
      switch step {
      case .key(let key): text.inside(key)
      case .index(let index): text.inside(index)
      case .each: text
      }
    }
  }

  /// Returns a key as it is written at the front of a path: in quotes and brackets unless it is a name.
  static func step(_ key: String) -> String { StowPath([.key(key)]).description }

  var description: String { text.isEmpty ? "the top" : text }
}
