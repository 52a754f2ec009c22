import Foundation
import NIOCore
import NIOPosix
import Stow
import StowRecords

@testable import ActorSystem

/// `ActorPeer` in a process of its own, which stands beside the tests.
final class PeerProcess {
  private let process = Process()
  private let output = Pipe()

  init(_ arguments: String...) throws {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
    let folder = bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
    process.executableURL = folder.appending(path: "ActorPeer")
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  deinit { kill() }

  /// The port that it prints.
  func port() throws -> Int {
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .newlines)) else {
      throw RemoteError("no port: \(line)")
    }
    return port
  }

  /// Ends it at once, wherever it is.
  func kill() {
    guard process.isRunning else { return }
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}

/// A peer that sends whatever it likes.
struct RawPeer {
  let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

  init(port: Int) async throws {
    channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
      }
  }

  /// Sends bytes, and others when it is called. Returns the frames that come until the system closes the connection, or
  /// as many as are expected.
  func send(_ bytes: Data, expecting count: Int = .max, answering answer: Data = Data()) async throws
    -> [Frame]
  {
    try await channel.executeThenClose { inbound, outbound in
      let decoder = RecordStreamDecoder(decoder: CallCoders(TypeRegistry()).decoder)
      var frames: [Frame] = []
      do {
        try await outbound.write(ByteBuffer(bytes: bytes))
        for try await bytes in inbound {
          bytes.withUnsafeReadableBytes { decoder.feed($0) }
          while let frame = try decoder.next(Frame.self) {
            frames.append(frame)
            if case .call = frame { try await outbound.write(ByteBuffer(bytes: answer)) }
          }
          if frames.count >= count { break }
        }
      } catch is IOError {
        // Who closes a connection before all of it was read resets it.
      }
      return frames
    }
  }
}

extension Frame {
  /// The error of a call that failed.
  var error: (any Error)? {
    guard case .failure(_, let error) = self else { return nil }
    return error.wrappedValue
  }
}
