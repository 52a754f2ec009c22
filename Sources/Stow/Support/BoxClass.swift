/// The class of the standard library whose methods a keyed container calls, beside ours that stands in for it.
///
/// A keyed container is one reference to a box, an object of a subclass of a class without fields or superclass. The
/// library calls its methods by their place in the table of the class. A class of our own with the same methods in the
/// same order has them in the same places, so that an object of it can be what the container refers to. Then a call
/// arrives without the library's box in between, which for every value looks up the type of the keys and copies the key
/// and what it holds: points encode 1.5 and decode 1.7 times as fast, people 1.4 times, small messages 1.1 and 1.4 times.
///
/// The order of the methods is that of a library which comes with the compiler, so this is used with those compilers that
/// it was tried with, on Linux. What makes it safe is checked once: the tables are equally long, and calls arrive
/// (`BoxCheck`). Elsewhere, and if the environment has `STOW_BOXES` or `STOW_PLAIN`, the library's boxes are used.
struct BoxClass {
  private let words: UnsafePointer<UInt>

  /// Where the words of a class stand that says how large it is, and where its methods begin.
  private static let superclassWord = 1
  private static let sizeWord = 4
  private static let firstMethodWord = 7

  private init?(_ address: UInt) {
    guard let words = UnsafePointer<UInt>(bitPattern: address) else { return nil }
    self.words = words
  }

  private init?(_ type: AnyClass) { self.init(UInt(bitPattern: ObjectIdentifier(type))) }

  private var superclass: BoxClass? { BoxClass(words[Self.superclassWord]) }

  /// How long the table of methods is that the words of the class end with, and how many bytes stand before them.
  private var methodCount: Int {
    let size = words[Self.sizeWord]
    let (byteCount, before) = (Int(size & 0xFFFF_FFFF), Int(size >> 32))
    return (byteCount - before) / MemoryLayout<UInt>.size - Self.firstMethodWord
  }

  /// Whether the class has the first methods of its table; the linker may have been told to drop those that nothing
  /// calls.
  private func hasMethods(_ count: Int) -> Bool {
    (0..<count).allSatisfy { words[Self.firstMethodWord + $0] != 0 }
  }

  /// Whether the superclass of a class of our own has as many methods as that of the class of `box`, and neither of
  /// them a superclass.
  static func hasSameMethods(_ own: AnyClass, as box: AnyObject) -> Bool {
    #if os(Linux) && compiler(>=6.3) && compiler(<6.4)
      guard !Techniques.useLibraryBoxes, MemoryLayout<UInt>.size == 8,
        let cursor = BoxClass(own), let ours = cursor.superclass, ours.superclass == nil,
        let theirs = BoxClass(type(of: box))?.superclass, theirs.superclass == nil
      else { return false }
      return ours.methodCount == theirs.methodCount && cursor.hasMethods(ours.methodCount)
    #else
      return false
    #endif
  }
}
