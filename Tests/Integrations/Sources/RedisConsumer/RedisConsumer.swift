import RedisSnippet

/// A consumer that the tests kill: `RedisConsumer SOCKET NAME`.
@main
enum RedisConsumer {
  static func main() async throws {
    try await ReadingConsumer.run(CommandLine.arguments[2], socket: CommandLine.arguments[1])
  }
}
