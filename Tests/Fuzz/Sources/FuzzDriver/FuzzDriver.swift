import CFuzzer
import FuzzTargets

/// Runs a target under libFuzzer, with the options of the command line.
public enum FuzzDriver {
  /// The target that the process runs; set once, before the loop begins.
  nonisolated(unsafe) private static var target = FuzzTarget.generic

  public static func run(_ target: FuzzTarget) {
    self.target = target
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    withUnsafeMutablePointer(to: &arguments) { arguments in
      let list = UnsafeMutableRawPointer(arguments)
        .assumingMemoryBound(to: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?.self)
      _ = LLVMFuzzerRunDriver(&count, list) { data, size in
        let bytes = UnsafeRawBufferPointer(start: data, count: size)
        do { try FuzzDriver.target.run(bytes) } catch { fatalError("\(error)") }
        return 0
      }
    }
  }
}
