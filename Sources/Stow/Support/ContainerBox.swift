/// Takes keyed containers apart into the one reference they are, and puts them together again.
enum ContainerBox {
  @inline(__always)
  static func box<Key>(_ container: KeyedEncodingContainer<Key>) -> AnyObject {
    unsafeBitCast(container, to: AnyObject.self)
  }

  @inline(__always)
  static func container<Key>(_ box: AnyObject) -> KeyedEncodingContainer<Key> {
    unsafeBitCast(box, to: KeyedEncodingContainer<Key>.self)
  }

  @inline(__always)
  static func box<Key>(_ container: KeyedDecodingContainer<Key>) -> AnyObject {
    unsafeBitCast(container, to: AnyObject.self)
  }

  @inline(__always)
  static func container<Key>(_ box: AnyObject) -> KeyedDecodingContainer<Key> {
    unsafeBitCast(box, to: KeyedDecodingContainer<Key>.self)
  }
}
