import Foundation
import FuzzTargets
import Testing

/// The inputs in `Tests/Fuzz`.
enum FuzzCorpus {
  private static let folder = URL(filePath: #filePath).appending(path: "../../../Fuzz").standardizedFileURL

  /// The files of a folder and of those in it.
  static func inputs(_ name: String) -> [Data] {
    let files = FileManager.default.enumerator(
      at: folder.appending(path: name), includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    let urls = files?.compactMap { $0 as? URL } ?? []
    return urls.sorted { $0.path < $1.path }.compactMap { try? Data(contentsOf: $0) }
  }
}

@Suite("Inputs of the fuzzers")
struct FuzzCorpusTests {
  @Test("seeds and past findings of the fuzzers do no harm", arguments: FuzzTarget.allCases)
  func replay(target: FuzzTarget) throws {
    // What was found is run by every target, what the fuzzers begin with by a third of them.
    let number = try #require(FuzzTarget.allCases.firstIndex(of: target))
    let seeds = FuzzCorpus.inputs("Seeds").enumerated().filter { ($0.offset + number) % 3 == 0 }.map(\.element)
    let regressions = FuzzCorpus.inputs("Regressions")
    #expect(seeds.count > 30 && regressions.count > 10)
    for input in seeds + regressions {
      #expect(throws: Never.self, "\(Array(input))") { try input.withUnsafeBytes(target.run) }
    }
  }

  @Test("random calls of an encoder write the same as a model of a JSON encoder", arguments: 0..<20)
  func programs(batch: Int) {
    var random = SeededGenerator(seed: UInt64(1000 + batch))
    for _ in 0..<1000 {
      let input = (0..<random.below(200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      #expect(throws: Never.self, "\(input)") { try input.withUnsafeBytes(FuzzTarget.writing.run) }
    }
  }

  @Test("random scripts of containers do no harm", arguments: 0..<4)
  func scripts(batch: Int) {
    var random = SeededGenerator(seed: UInt64(batch))
    for _ in 0..<200 {
      let input = (0..<random.below(400)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      #expect(throws: Never.self, "\(input)") { try input.withUnsafeBytes(FuzzTarget.containers.run) }
    }
  }
}
