import Stow

/// The symbols and shapes that a message may refer to.
struct Definitions {
  private(set) var symbols: [String] = []
  private(set) var shapes: [[String]] = []
  /// The number of the first symbol that is the same string, by symbol.
  private var names: [Int] = []
  private var numbers: [ExactString: Int] = [:]

  /// Makes empty definitions.
  init() {}

  init(_ context: StowContext) {
    for symbol in context.symbols { add(symbol: symbol) }
    shapes = context.shapes
  }

  mutating func add(symbol: String) {
    let number = numbers[ExactString(symbol), default: symbols.count]
    numbers[ExactString(symbol)] = number
    names.append(number)
    symbols.append(symbol)
  }

  mutating func add(shape: [String]) { shapes.append(shape) }

  /// A key: a text, or a reference to a symbol.
  enum Key {
    case text(String)
    case symbol(Int)
  }

  /// The keys of one object, none of which may occur twice.
  ///
  /// A key may take a byte even if its symbol takes many: each symbol is looked at once, however many keys
  /// refer to it.
  struct Keys {
    private var numbers = Set<Int>()
    private var texts = Set<ExactString>()

    /// Adds a key, and returns whether it differs from all before it.
    mutating func insert(_ key: Key, _ definitions: Definitions) -> Bool {
      switch key {
      case .symbol(let symbol): return numbers.insert(definitions.names[symbol]).inserted
      case .text(let text):
        let text = ExactString(text)
        if let number = definitions.numbers[text] { return numbers.insert(number).inserted }
        return texts.insert(text).inserted
      }
    }
  }
}
