// The calls of the system that the command makes, which have one name in every C library.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The process, and its standard input, output and error.
enum System {
  /// The descriptors that every process has.
  enum Descriptor: CInt {
    case input = 0
    case output = 1
    case error = 2
  }

  static func isTerminal(_ descriptor: Descriptor) -> Bool { isatty(descriptor.rawValue) == 1 }

  /// The number of characters on a line of the terminal; nil if standard output is not a terminal.
  static var terminalWidth: Int? {
    var size = winsize()
    guard isTerminal(.output), ioctl(Descriptor.output.rawValue, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
    return size.ws_col > 0 ? Int(size.ws_col) : nil
  }

  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// The folder for temporary files. On Apple's platforms, Foundation does not look into the environment for it.
  static var temporaryFolder: URL {
    if let path = environment("TMPDIR"), !path.isEmpty { return URL(filePath: path, directoryHint: .isDirectory) }
    return FileManager.default.temporaryDirectory
  }

  /// Makes a write to a pipe that nobody reads fail instead of ending the process.
  static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

  /// Makes reading bytes of a mapped file that are not there any more an error. Otherwise it would look like a fault of
  /// the command.
  static func explainShortenedFiles() {
    signal(SIGBUS) { _ in
      // The thread was reading bytes and holds no lock, so that it may write and exit.
      Output.complain("a file became shorter while it was read, or its disk failed")
      System.end(ExitCode.failed.rawValue)
    }
  }

  /// Opens `/dev/null` for each of standard input, output and error that is closed, in a way in which using it still
  /// fails. Otherwise a file that is opened later would get its number, and a log the text for standard output.
  static func fillClosedDescriptors() {
    for descriptor in CInt(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
      _ = open("/dev/null", descriptor == Descriptor.input.rawValue ? O_WRONLY : O_RDONLY)
    }
  }

  static func end(_ code: CInt) -> Never { exit(code) }

  /// The words of the command line after the name of the program.
  ///
  /// - Throws: `Failure` for one that is not UTF-8: as a `String`, it would name another file.
  static func words() throws -> [String] {
    try (1..<max(1, Int(CommandLine.argc))).compactMap { CommandLine.unsafeArgv[$0] }.map {
      guard let word = String(validatingCString: $0) else {
        throw Failure("\(String(cString: $0)): not UTF-8; a file with such a name can be piped in")
      }
      return word
    }
  }

  /// A kind of file.
  enum FileKind { case file, folder, other }

  /// Returns the kind of what a path leads to through links, and its size in bytes; nil if that fails.
  static func status(of path: String) -> (kind: FileKind, size: Int)? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let kind: FileKind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      default: .other
      }
    return (kind, Int(clamping: status.st_size))
  }

  /// Returns a path whose folders up to the last `..` are those of the system, if they exist. `URL` drops each `..`
  /// together with the name before it: if that name is a link, this gives another file.
  static func withoutParents(_ path: String) -> String {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let last = names.lastIndex(of: "..") else { return path }
    guard let folder = realpath(names[...last].joined(separator: "/"), nil) else { return path }
    defer { free(folder) }
    guard let name = String(validatingCString: folder) else { return path }
    return ([name] + names[(last + 1)...].map(String.init)).joined(separator: "/")
  }

  /// Returns all bytes of a file, or of standard input; nil if it cannot be read.
  static func readAll(_ path: String?) -> [UInt8]? {
    let descriptor = path.map { open($0, O_RDONLY) } ?? Descriptor.input.rawValue
    if descriptor < 0 { return nil }
    defer { if path != nil { close(descriptor) } }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count == 0 { return bytes }
      if count < 0, errno != EINTR { return nil }
      if count > 0 { bytes += buffer[..<count] }
    }
  }

  /// Makes an empty file that nobody else may read, and returns whether that succeeded.
  static func makePrivateFile(_ path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    return descriptor >= 0 && close(descriptor) == 0
  }

  /// The result of a write.
  enum Written { case all, nobodyReads, failed }

  static func write(_ bytes: [UInt8], to descriptor: Descriptor) -> Written {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes {
        #if canImport(Darwin)
          Darwin.write(descriptor.rawValue, $0.baseAddress, $0.count)
        #elseif canImport(Glibc)
          Glibc.write(descriptor.rawValue, $0.baseAddress, $0.count)
        #elseif canImport(Musl)
          Musl.write(descriptor.rawValue, $0.baseAddress, $0.count)
        #endif
      }
      if count < 0, errno == EPIPE { return .nobodyReads }
      if count < 0, errno != EINTR { return .failed }
      start += max(0, count)
    }
    return .all
  }

  /// The program that opens a file in the way that the user prefers.
  static var opener: String {
    #if canImport(Darwin)
      "open"
    #else
      "xdg-open"
    #endif
  }

  /// Runs a program with one argument, and waits for its end.
  ///
  /// - Returns: Whether there is such a program, and it succeeded.
  static func run(_ program: String, _ argument: String) -> Bool {
    func copy(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } + [nil] }
    let words = copy([program, argument])
    let variables = copy(ProcessInfo.processInfo.environment.map { "\($0)=\($1)" })
    defer { for text in words + variables { free(text) } }
    var process = pid_t()
    guard posix_spawnp(&process, program, nil, nil, words, variables) == 0 else { return false }
    var status: CInt = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return false }
    }
    return status == 0
  }
}

/// Standard output, standard error, and files that are written.
final class Output {
  private var pending: [UInt8] = []

  /// The number of pending bytes at which they are written.
  private static let most = 1 << 16

  func line(_ text: String) { self.text(text + "\n") }

  func text(_ text: String) {
    pending += text.utf8
    if pending.count >= Self.most { flush() }
  }

  /// Writes what is pending. Ends the command if nobody reads it.
  func flush() {
    Self.write(pending)
    pending.removeAll(keepingCapacity: true)
  }

  private static func write(_ bytes: [UInt8]) {
    switch System.write(bytes, to: .output) {
    case .all: break
    case .nobodyReads: System.end(ExitCode.failed.rawValue)
    case .failed:
      complain("standard output cannot be written")
      System.end(ExitCode.failed.rawValue)
    }
  }

  /// Writes a line to standard error.
  static func complain(_ text: String) { _ = System.write(Array("stowtool: \(text)\n".utf8), to: .error) }

  /// Writes a message to the file that `-o` names, or to standard output if that is not a terminal.
  static func write(message: Data, _ arguments: Arguments) throws {
    let path = arguments.value("--output") ?? Arguments.standardFile
    if path == Arguments.standardFile, System.isTerminal(.output), !arguments.has("--force") {
      throw Failure("a message is not text: name a file with -o, or write it to the terminal with --force")
    }
    try write(message, to: path)
  }

  /// Writes all of a file that was named on the command line.
  static func write(_ data: Data, to path: String) throws {
    guard path != Arguments.standardFile else { return write([UInt8](data)) }
    do {
      try data.write(to: URL(named: path))
    } catch {
      throw Failure("\(path): cannot be written")
    }
  }

  /// Writes a file to the folder for temporary files.
  static func writeTemporary(_ data: Data, ending: String = "") throws -> URL {
    let name = "stowtool-\(UUID().uuidString)\(ending)"
    let file = System.temporaryFolder.appending(path: name)
    let path = file.path(percentEncoded: false)
    do {
      guard System.makePrivateFile(path) else { throw Failure("\(path): cannot be written") }
      try write(data, to: path)
      return file
    } catch {
      try? FileManager.default.removeItem(at: file)
      throw error
    }
  }

  /// The options of `write(message:_:)`.
  static let options = [
    Option("--output", "FILE", "write to this file instead of standard output", short: "-o"),
    Option("--force", nil, "write the message even to a terminal"),
  ]
}
