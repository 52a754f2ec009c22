#if os(Linux)
  import Foundation
  import Stow
  import Testing

  /// What the command does where somebody sits before a terminal.
  @Suite("Output to a terminal")
  struct TerminalTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func message(_ value: some Encodable) throws -> String {
      try folder.file("message", StowEncoder().encode(value)).path(percentEncoded: false)
    }

    @Test("values are printed in colour unless the environment forbids it")
    func colors() throws {
      let path = try message(["key": 1])
      let colored = try Terminal.output(of: "print", path, environment: ["NO_COLOR": ""])
      #expect(colored.text.contains("\u{1B}["))
      let plain = try Terminal.output(of: "print", path, environment: ["NO_COLOR": "1"])
      #expect(plain.text == "{\"key\": 1}\r\n" && plain.code == 0)
    }

    @Test("messages are written to a terminal only with --force")
    func messages() throws {
      let text = try folder.file("text", Data("\"abc\"".utf8)).path(percentEncoded: false)
      let refused = try Terminal.output(of: "parse", text)
      #expect(refused.code != 0 && refused.text.isEmpty)
      let forced = try Terminal.output(of: "parse", "--force", text)
      #expect(forced.code == 0 && forced.text == "3abc")
    }

    @Test("reading a large file shows its progress")
    func progress() throws {
      let path = try message(Array(repeating: Data(count: 26_000_000), count: 4))
      let shown = try Terminal.errors(of: "verify", path)
      #expect(shown.code == 0)
      #expect(shown.text == "\r0 %\r25 %\r50 %\r75 %\r100 %\r      \r")
      #expect(try Terminal.errors(of: "verify", message([Data(count: 1000)])).text.isEmpty)
    }
  }

  /// A terminal, and what a command writes to it.
  private struct Terminal {
    private let screen: FileHandle
    private let device: FileHandle

    /// The requests that say the number of a terminal, and let it be opened. Swift has no names for them.
    private static let (number, lock): (UInt, UInt) = (0x8004_5430, 0x4004_5431)

    private init() throws {
      let file = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      try #require(file >= 0)
      screen = FileHandle(fileDescriptor: file, closeOnDealloc: true)
      var (number, isLocked): (Int32, Int32) = (0, 0)
      try #require(ioctl(file, Self.number, &number) == 0 && ioctl(file, Self.lock, &isLocked) == 0)
      device = try #require(FileHandle(forUpdatingAtPath: "/dev/pts/\(number)"))
    }

    /// What the command writes to standard output, which is a terminal.
    static func output(of arguments: String..., environment: [String: String] = [:]) throws
      -> (text: String, code: Int32)
    {
      try Terminal().run(arguments, environment) {
        $0.standardOutput = $1
        $0.standardError = FileHandle.nullDevice
      }
    }

    /// What the command writes to standard error, which is a terminal.
    static func errors(of arguments: String...) throws -> (text: String, code: Int32) {
      try Terminal().run(arguments, [:]) {
        $0.standardOutput = FileHandle.nullDevice
        $0.standardError = $1
      }
    }

    private func run(
      _ arguments: [String], _ environment: [String: String], _ connect: (Process, FileHandle) -> Void
    ) throws -> (text: String, code: Int32) {
      let process = Process()
      process.executableURL = Tool.executable
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.standardInput = FileHandle.nullDevice
      connect(process, device)
      try process.run()
      process.waitUntilExit()
      return (try written(), process.terminationStatus)
    }

    /// All that was written. After it this writes a byte of its own, to know the end.
    private func written() throws -> String {
      try device.write(contentsOf: [Self.end])
      var bytes: [UInt8] = []
      while bytes.last != Self.end {
        var part = [UInt8](repeating: 0, count: 4096)
        let count = read(screen.fileDescriptor, &part, part.count)
        try #require(count > 0)
        bytes += part[..<count]
      }
      return String(decoding: bytes.dropLast(), as: UTF8.self)
    }

    private static let end: UInt8 = 0
  }
#endif
