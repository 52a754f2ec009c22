import Dispatch
import Foundation

/// Swallows a value where the optimizer cannot see, so that the work which made it must be done.
@inline(never)
@_optimize(none)
func blackHole<Value>(_ value: borrowing Value) {}

/// Hands a value back as something the optimizer knows nothing about, so that no call on it is
/// specialised: a coder in another module would not be either.
@inline(never)
@_optimize(none)
func opaque<Value>(_ value: Value) -> Value { value }

/// The monotonic clock every figure here is read from, in nanoseconds.
enum Clock {
  /// The time now, in nanoseconds since some fixed moment.
  static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// How long `body` takes, in nanoseconds.
  static func time(_ body: () throws -> Void) rethrows -> Double {
    let start = now()
    try body()
    return Double(now() - start)
  }
}

/// The middle value (the mean of the two middle ones), or NaN of nothing: one slow round changes nothing.
func median(_ samples: [Double]) -> Double {
  guard !samples.isEmpty else { return .nan }
  let sorted = samples.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// The geometric mean, the only fair mean of ratios; nil of nothing.
func geometricMean(_ ratios: [Double]) -> Double? {
  guard !ratios.isEmpty else { return nil }
  return exp(ratios.reduce(0) { $0 + log($1) } / Double(ratios.count))
}

/// Standard error: where progress and complaints go, so that standard output holds the report alone.
enum StandardError {
  /// Writes one line.
  static func print(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}

/// What the system says of this process's memory, in bytes.
enum ResidentMemory {
  #if os(Linux)
    /// What is resident now.
    static func current() -> Int { statusField("VmRSS:") }

    /// The most that was resident since the last `resetPeak()`.
    static func peak() -> Int { statusField("VmHWM:") }

    /// Gives free pages back and starts the peak anew from what is resident now, where the system allows it.
    static func resetPeak() {
      returnFreePages()
      guard let file = fopen("/proc/self/clear_refs", "w") else { return }
      fputs("5", file)
      fclose(file)
    }

    /// Has the allocator give back what it keeps for later, if it is one that can be told to.
    private static func returnFreePages() {
      guard let symbol = dlsym(nil, "malloc_trim") else { return }
      typealias Trim = @convention(c) (Int) -> CInt
      _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }

    /// One line of /proc/self/status, which counts in KiB.
    private static func statusField(_ name: String) -> Int {
      guard let file = fopen("/proc/self/status", "r") else { return 0 }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 256)
      while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        guard text.hasPrefix(name) else { continue }
        return (Int(text.filter(\.isNumber)) ?? 0) * 1024
      }
      return 0
    }
  #else
    /// The peak stands in for what is resident now: a lower bound of what comes on top is all one gets.
    static func current() -> Int { peak() }

    /// The most that was ever resident.
    static func peak() -> Int {
      #if canImport(Darwin)
        var usage = rusage()
        getrusage(RUSAGE_SELF, &usage)
        return usage.ru_maxrss
      #else
        return 0
      #endif
    }

    /// The peak cannot be reset here.
    static func resetPeak() {}
  #endif
}

/// Runs this same executable again, for what can only be measured in a fresh process.
enum ChildProcess {
  /// A child that did not do what it was started for.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// The numbers a child process with these arguments printed.
  static func numbers(_ arguments: [String]) throws -> [Double] {
    String(decoding: try output(arguments), as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap {
      Double($0)
    }
  }

  /// What a child process with these arguments wrote to its standard output.
  static func output(_ arguments: [String]) throws -> Data {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw Failure(description: "the child process \(arguments.joined(separator: " ")) failed")
    }
    return text
  }

  /// Where this executable is.
  private static var executable: URL {
    let link = "/proc/self/exe"
    if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: link) { return URL(fileURLWithPath: path) }
    return Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
  }
}
