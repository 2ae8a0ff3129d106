import Logging
import ServiceLifecycle

/// Runs `body` while a server for HTTP listens, and prints where.
///
/// - Parameters:
///   - name: what is printed before the address: `geobucket NAME on HOST:PORT`.
///   - server: makes the server, which calls its argument once it listens.
func serving(
    _ name: String, at address: Address, _ logger: Logger,
    with server: (_ listening: @escaping @Sendable (String, Int) -> Void) -> any Service,
    _ body: () async throws -> Void
) async throws {
    let (bound, report) = AsyncStream<Address>.makeStream()
    let server = server { host, port in report.yield(Address(host: host, port: port)) }
    let group = ServiceGroup(services: [server], logger: logger)
    async let running: Void = {
        defer { report.finish() }
        try await group.run()
    }()
    guard let bound = await bound.first(where: { _ in true }) else {
        do {
            try await running
        } catch {
            throw CommandFailure("cannot serve HTTP on \(address): \(reason(of: error))")
        }
        throw CommandFailure("cannot serve HTTP on \(address)")
    }
    try Console.write("geobucket \(name) on \(bound)\n")
    do {
        try await body()
    } catch {
        await group.triggerGracefulShutdown()
        throw error
    }
    await group.triggerGracefulShutdown()
    try await running
}
