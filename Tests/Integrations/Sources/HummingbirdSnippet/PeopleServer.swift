import Hummingbird
import Logging

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A server on loopback whose routes use the snippet.
package enum PeopleServer {
  /// Runs the server, on a port that the system picks, until `body` returns.
  package static func run(_ body: @escaping @Sendable (_ port: Int) async throws -> Void) async throws {
    let (ports, found) = AsyncStream.makeStream(of: Int.self)
    var logger = Logger(label: "PeopleServer")
    logger.logLevel = .critical
    let application = Application(
      router: router(), configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in found.yield(channel.localAddress?.port ?? 0) }, logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await application.run() }
      group.addTask {
        for await port in ports { return try await body(port) }
      }
      try await group.next()
      group.cancelAll()
    }
  }

  /// What people are sent to is what they are sent back from. `processor-time` is that of the process in microseconds.
  private static func router() -> Router<AppRequestContext> {
    let router = Router(context: AppRequestContext.self)
    let people = Person.make(count: 100)
    router.get("people") { _, _ in people }
    router.post("people") { request, context in
      try await request.decode(as: [Person].self, context: context)
    }
    router.get("processor-time") { _, _ in String(processorTime()) }
    return router
  }

  private static func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
  }
}
