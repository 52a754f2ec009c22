/// The keyed containers of one key type.
final class KeyedDecoderPool {
  let keyTable: DecodingKeyTable
  // Used for every object, whose access calls nothing of the user's.
  @exclusivity(unchecked) var containers = ContainerPool<ObjectReader>()
  /// A `ContainerCopier` of the containers.
  private let copier: AnyObject
  /// The last message that took a container.
  var lastMessage = -1

  init<Key: CodingKey>(_ keyType: Key.Type) {
    keyTable = DecodingKeyTable(keyType)
    copier = ContainerCopier<KeyedDecodingContainer<Key>>()
  }

  /// Returns the copier as what it is; `type` must be that of the containers for the key type.
  @inline(__always)
  func copier<Container>(of type: Container.Type) -> ContainerCopier<Container> {
    unsafeDowncast(copier, to: ContainerCopier<Container>.self)
  }
}
