import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Decodes `Decodable` values from Stow messages.
///
/// A drop-in for `JSONDecoder`:
///
/// ```swift
/// let trip = try StowDecoder().decode(Trip.self, from: data)
/// ```
///
/// Safe on bytes from anywhere: what is malformed is a `DecodingError`, and the decoder itself takes memory in
/// proportion to the bytes there are, not to what they claim. A decoder may be used from many threads at once, and
/// from inside an `init(from:)` that it is itself running.
///
/// FORMAT.md specifies the bytes.
@_fixed_layout
public final class StowDecoder: Sendable {
  // One by one, so that a call reads them without a lock.
  private let sharedUserInfo = SharedUserInfo()
  private let sharedDepth = Atomic<Int>(DepthLimit.standard)

  /// Makes a decoder with the default options.
  @inlinable
  public init() {}

  // As in `StowEncoder`.
  @inlinable
  deinit {}

  /// What is handed to every `init(from:)` through its decoder. Empty by default.
  public var userInfo: [CodingUserInfoKey: any Sendable] {
    get { sharedUserInfo.current?.values ?? [:] }
    set { sharedUserInfo.set(UserInfo(newValue)) }
  }

  /// How many containers may be nested, in values that are skipped too; 512 by default.
  ///
  /// A message that nests deeper is a `DecodingError.dataCorrupted`. Every level takes room on the stack:
  /// raise this only where there is some.
  public var maximumDepth: Int {
    get { sharedDepth.load(ordering: .relaxed) }
    set { sharedDepth.store(DepthLimit.clamped(newValue), ordering: .relaxed) }
  }

  /// Decodes a value from a message.
  ///
  /// Takes time in proportion to what is read of the message.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the bytes are not one whole message; any `DecodingError` if
  ///   it does not hold a value of the type; and whatever an `init(from:)` throws.
  public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
    try data.lendBytes { try decode(type, fromBytes: $0) }
  }

  /// Decodes a value from a message in contiguous bytes, such as a `[UInt8]`, without copying them.
  ///
  /// - Throws: As `decode(_:from:)` does.
  public func decode<Value: Decodable>(_ type: Value.Type, from bytes: some ContiguousBytes) throws -> Value {
    try bytes.withUnsafeBytes { try decode(type, fromBytes: $0) }
  }

  private func decode<Value: Decodable>(_ type: Value.Type, fromBytes bytes: UnsafeRawBufferPointer) throws
    -> Value
  {
    try DecodingSession.decode(type, from: bytes, maximumDepth: maximumDepth, sharedUserInfo)
  }
}
