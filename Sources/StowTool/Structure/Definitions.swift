import Stow

/// The symbols and shapes that a message may refer to.
struct Definitions {
  private(set) var symbols: [String] = []
  private(set) var shapes: [[String]] = []
  /// By symbol: the number of the first that is the same string.
  private var names: [Int] = []
  private var numbers: [ExactString: Int] = [:]

  /// No definitions yet.
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

  /// The keys of one object, of which none may stand twice.
  ///
  /// A key may take a byte where its symbol takes many: each symbol is looked at once, whatever refers to it.
  struct Keys {
    private var numbers = Set<Int>()
    private var texts = Set<ExactString>()

    /// Whether a key is another than all before it.
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
