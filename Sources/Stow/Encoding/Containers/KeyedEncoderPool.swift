/// The keyed containers of one key type, to be handed out again.
struct KeyedEncoderPool: ~Copyable {
  /// The address, which stays; nobody counts references.
  typealias Reference = UnsafeMutablePointer<KeyedEncoderPool>

  var containers = ContainerPool<ObjectWriter>()
  /// A `ContainerCopier` of the containers.
  private let copier: AnyObject
  /// The last message that took a container.
  var lastMessage = -1

  init<Key: CodingKey>(_ keyType: Key.Type) { copier = ContainerCopier<KeyedEncodingContainer<Key>>() }

  /// A copy of one of the containers, whose type must be that for the key type.
  @inline(__always)
  func copy<Container>(_ number: Int, as type: Container.Type) -> Container {
    unsafeDowncast(copier, to: ContainerCopier<Container>.self).copy(containers.address(number))
  }
}
