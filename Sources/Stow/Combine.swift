#if canImport(Combine)
  import Combine
  import Foundation

  /// Lets `Publisher.encode(encoder:)` take a `StowEncoder`.
  extension StowEncoder: TopLevelEncoder {
    public typealias Output = Data
  }

  /// Lets `Publisher.decode(type:decoder:)` take a `StowDecoder`.
  extension StowDecoder: TopLevelDecoder {
    public typealias Input = Data
  }
#endif
