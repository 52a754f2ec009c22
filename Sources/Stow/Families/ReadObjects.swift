/// The objects of a graph that is being decoded, each of which is made when the first reference to it is met.
///
/// Used by one thread, as the decoder is.
final class ReadObjects: @unchecked Sendable {
  /// The graph that is being decoded, also for tasks that are started meanwhile.
  @TaskLocal static var inherited: ReadObjects?

  private let thread = ThreadMark()

  /// The graph that this thread is decoding.
  static var current: ReadObjects? { inherited.flatMap { $0.thread.isCurrent ? $0 : nil } }

  private typealias Table = KeyedDecodingContainer<PathKey>

  /// An object that could not be made, and as what.
  private struct Attempt: Hashable {
    let number: Int
    let type: ObjectIdentifier
  }

  /// Why an object could not be made. Where fewer objects lead to it, it may be made after all.
  private struct Failure {
    let error: any Error
    let leadingObjects: Int
  }

  private var objects: Table?
  private var named: Table?
  private var made: [Int: AnyObject] = [:]
  /// The objects that are being made.
  private var open: Set<Int> = []
  /// Why objects could not be made: those who go on regardless are told again, and do not read all of it again.
  private var failures: [Attempt: Failure] = [:]
  private var stack = StackGuard()

  init(_ graph: KeyedDecodingContainer<SharedGraphKey>) throws {
    func table(_ key: SharedGraphKey) throws -> Table? {
      try graph.contains(key) ? graph.nestedContainer(keyedBy: PathKey.self, forKey: key) : nil
    }
    objects = try table(.objects)
    named = try table(.named)
  }

  /// Forgets the graph: a decoder that is kept longer finds no objects.
  func end() {
    (objects, named) = (nil, nil)
    made = [:]
    failures = [:]
  }

  /// Returns the object of a number; nil if the graph has none.
  ///
  /// - Parameter decoder: That of the reference.
  func object<Value>(_ number: Int, _ type: Value.Type, _ decoder: any Decoder) throws -> Value? {
    if let object = made[number] {
      guard let value = object as? Value else {
        throw DecodingError.typeMismatch(
          type,
          DecodingError.Context(
            codingPath: decoder.codingPath,
            debugDescription:
              "Expected an object of type \(type), but found one of type \(Swift.type(of: object))."))
      }
      return value
    }
    let attempt = Attempt(number: number, type: ObjectIdentifier(type))
    if let failure = failures[attempt], failure.leadingObjects <= open.count { throw failure.error }
    do {
      try enter(number, decoder)
      defer { open.remove(number) }
      guard let value = try make(number, type, decoder) else { return nil }
      made[number] = value as AnyObject
      return value
    } catch {
      failures[attempt] = Failure(error: error, leadingObjects: open.count)
      throw error
    }
  }

  /// Notes that an object is being made, unless it cannot be.
  private func enter(_ number: Int, _ decoder: any Decoder) throws {
    guard open.count < ReferenceCheck.longestChain else {
      throw DecodingError.tooDeep(
        "More than \(ReferenceCheck.longestChain) objects lead to each other in a row.",
        path: decoder.codingPath)
    }
    if stack.isLow(isElsewhere: false) {
      throw DecodingError.tooDeep(
        "\(open.count) objects lead to each other, and no more fit on the stack of this thread.",
        path: decoder.codingPath)
    }
    guard open.insert(number).inserted else {
      throw Self.error("The object leads to itself.", decoder.codingPath)
    }
  }

  private func make<Value>(_ number: Int, _ type: Value.Type, _ decoder: any Decoder) throws -> Value? {
    let key = PathKey(intValue: number)
    let (isPlain, isNamed) = (objects?.contains(key) == true, named?.contains(key) == true)
    guard !isPlain || !isNamed else {
      throw Self.error("The graph has two objects of this number.", decoder.codingPath)
    }
    let value: Value
    if isNamed, let named {
      value = try named.decode(Elementwise<Value, NamedCoding>.self, forKey: key).value
    } else if isPlain, let objects {
      value = try plain(type, objects, key)
    } else {
      return nil
    }
    guard Swift.type(of: value as Any) is AnyObject.Type else {
      throw Self.error(
        "Expected an object of a class, but found a \(Swift.type(of: value as Any)).", decoder.codingPath)
    }
    return value
  }

  private func plain<Value>(_ type: Value.Type, _ objects: Table, _ key: PathKey) throws -> Value {
    guard let decodable = type as? any Decodable.Type,
      let value = try objects.decode(decodable, forKey: key) as? Value
    else {
      throw DecodingError.typeMismatch(
        type,
        DecodingError.Context(
          codingPath: objects.codingPath + [key],
          debugDescription: "Expected a \(type), which has no name here."))
    }
    return value
  }

  static func error(_ text: String, _ path: [any CodingKey]) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: path, debugDescription: text))
  }
}
