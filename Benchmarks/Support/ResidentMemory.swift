import Foundation

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
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
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
