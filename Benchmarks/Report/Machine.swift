import Foundation

/// What the figures were measured on, without anything that names a person or a place.
struct Machine: Codable {
  var system: String
  var architecture: String
  var processor: String
  var cores: Int
  var memory: UInt64
  var swift: String
  var optimized: Bool

  /// The machine this process runs on.
  static var current: Machine {
    let info = ProcessInfo.processInfo
    return Machine(
      system: info.operatingSystemVersionString, architecture: architectureName, processor: processorName,
      cores: info.activeProcessorCount, memory: info.physicalMemory, swift: compilerVersion,
      optimized: isOptimized)
  }

  /// One line for the foot of a report.
  var description: String {
    "\(processor), \(cores) cores, \(system), \(architecture), Swift \(swift)"
      + (optimized ? "" : ", NOT OPTIMIZED: use -c release")
  }

  /// Whether the figures mean anything: times of a debug build do not.
  static var isOptimized: Bool {
    #if DEBUG
      false
    #else
      true
    #endif
  }

  private static var architectureName: String {
    #if arch(x86_64)
      "x86-64"
    #elseif arch(arm64)
      "arm64"
    #else
      "other architecture"
    #endif
  }

  /// The model, where the system tells.
  private static var processorName: String {
    let info = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    let line = info.split(separator: "\n").first { $0.hasPrefix("model name") }
    let name = line?.split(separator: ":").last.map(String.init) ?? "unknown processor"
    return name.split(separator: " ").joined(separator: " ")
  }

  private static var compilerVersion: String {
    #if compiler(>=6.4)
      "6.4 or later"
    #elseif compiler(>=6.3)
      "6.3"
    #elseif compiler(>=6.2)
      "6.2"
    #elseif compiler(>=6.1)
      "6.1"
    #else
      "6.0"
    #endif
  }
}
