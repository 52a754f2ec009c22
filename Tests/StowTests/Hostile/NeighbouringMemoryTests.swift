import Foundation
import Stow
import Testing

/// Memory between pages that must not be touched: whoever reads a byte before or after it crashes.
private final class GuardedBytes: @unchecked Sendable {
  private let start: UnsafeMutableRawPointer
  private let pageSize = Int(getpagesize())
  private let size: Int

  init?(size: Int) {
    self.size = (size + pageSize - 1) / pageSize * pageSize
    let flags = MAP_PRIVATE | MAP_ANON
    guard let start = mmap(nil, self.size + 2 * pageSize, PROT_NONE, flags, -1, 0), start != MAP_FAILED,
      mprotect(start + pageSize, self.size, PROT_READ | PROT_WRITE) == 0
    else { return nil }
    self.start = start
  }

  deinit { munmap(start, size + 2 * pageSize) }

  /// Lends a copy of some bytes that ends where the memory does.
  func withBytesAtEnd(_ bytes: Data, _ body: (UnsafeRawBufferPointer) -> Void) {
    let copy = start + pageSize + size - bytes.count
    bytes.copyBytes(to: UnsafeMutableRawBufferPointer(start: copy, count: bytes.count))
    body(UnsafeRawBufferPointer(start: copy, count: bytes.count))
  }

  /// Lends a copy of some bytes that begins where the memory does.
  func withBytesAtStart(_ bytes: Data, _ body: (UnsafeRawBufferPointer) -> Void) {
    bytes.copyBytes(to: UnsafeMutableRawBufferPointer(start: start + pageSize, count: bytes.count))
    body(UnsafeRawBufferPointer(start: start + pageSize, count: bytes.count))
  }
}

@Suite("Memory beside messages")
struct NeighbouringMemoryTests {
  private func read(_ bytes: UnsafeRawBufferPointer) {
    _ = try? StowDecoder().decode(StowValue.self, from: bytes)
    _ = try? StowDecoder().decode([Double].self, from: bytes)
  }

  /// Through containers, too.
  private func readWhole(_ bytes: UnsafeRawBufferPointer) {
    read(bytes)
    _ = try? StowDecoder().decode(JSONValue.self, from: bytes)
  }

  @Test("decoding whole or truncated vectors does not read the memory before or after them")
  func vectors() throws {
    // The few longest take long, and begin and end like others.
    let vectors = try VectorFile.all.get().map(\.bytes).filter { $0.count < 100_000 }
    let memory = try #require(GuardedBytes(size: vectors.map(\.count).max() ?? 0))
    for bytes in vectors {
      memory.withBytesAtStart(bytes, readWhole)
      let cuts = bytes.count < 100 ? [1, 2, 4, 8] : [1]
      memory.withBytesAtEnd(bytes, readWhole)
      for cut in cuts where cut <= bytes.count { memory.withBytesAtEnd(bytes.dropLast(cut), read) }
    }
  }
}
