import TestSupport
import Testing

@Test func `A service answers a ping`() async throws {
    try await TestService.with { service in
        let answer = try await service.call("server.ping")
        #expect(answer == .string("pong"))
    }
}
