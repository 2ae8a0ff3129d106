import Objects
import TestSupport
import Testing

/// Which connection of the line port leaves its place to a new one.
@Suite(.timeLimit(.minutes(5))) struct SilentConnectionRules {
    private static func ping(_ raw: RawConnection) throws -> String? {
        try raw.send(FramingRules.ping())
        return try raw.line()
    }

    @Test func `Connections that ask for nothing keep nobody out`() async throws {
        var limits = Limits()
        limits.connections = 5
        try await TestService.with(limits: limits) { service in
            try await service.call("server.ping")
            try RawConnection.with(port: service.port, count: 50) { silent in
                // Half a line is none.
                for raw in silent { try? raw.send("{") }
                for _ in 0..<20 {
                    try RawConnection.with(port: service.port) { raw in
                        let answer = try Self.ping(raw)
                        #expect(answer == FramingRules.pong())
                    }
                }
            }
            // The one that has asked for something is as it was.
            #expect(try await service.text("server.ping") == "\"pong\"")
        }
    }

    @Test func `Of the silent ones the oldest goes, of the address with the most`() async throws {
        var limits = Limits()
        (limits.connections, limits.connectionsPerAddress) = (5, 4)
        try await TestService.with(limits: limits) { service in
            // Event loops take connections in when they come to it, so each waits for the last one.
            func open(_ count: Int) async throws {
                let deadline = ContinuousClock.now + hangTime
                while ContinuousClock.now < deadline {
                    let connections = try await service.call("server.stats")["connections"]
                    if connections?["open"]?.int == count { return }
                }
                throw TestFailure("there are not \(count) connections")
            }
            let port = service.port
            try await RawConnection.during(port: port, from: "127.0.0.2") { other in
                try other.send("{")
                try await open(2)
                try await RawConnection.during(port: port) { first in
                    try await open(3)
                    try await RawConnection.during(port: port) { second in
                        try await open(4)
                        try await RawConnection.during(port: port) { third in
                            try await open(5)
                            // The address has as many as it may: one leaves its place to another of
                            // its own.
                            try await RawConnection.during(port: port) { own in
                                let (answer, end) = (try Self.ping(own), try first.line())
                                #expect(answer == FramingRules.pong() && end == nil)
                                // There are as many as there may be at all.
                                try RawConnection.with(port: port, from: "127.0.0.3") { raw in
                                    let (answer, end) = (try Self.ping(raw), try second.line())
                                    #expect(answer == FramingRules.pong() && end == nil)
                                }
                            }
                            let answer = try Self.ping(third)
                            #expect(answer == FramingRules.pong())
                        }
                    }
                }
                // Its line goes on.
                try other.send(String(FramingRules.ping().dropFirst()))
                #expect(try other.line() == FramingRules.pong())
            }
        }
    }

    @Test func `Where a login is needed, who has not logged in gives way`() async throws {
        var limits = Limits()
        limits.connections = 4
        try await LoginRules.with(limits: limits) { guarded in
            let port = guarded.service.port
            try await RawConnection.during(port: port, count: 10) { strangers in
                for raw in strangers { try? raw.send(FramingRules.ping()) }
                // Each has come by now, and some have been closed.
                for raw in strangers { _ = try? raw.line() }
                let outcomes = try await guarded.outcomes(
                    as: "reader", [("bucket.count", #"{"bucket":"shops"}"#)])
                #expect(outcomes.count == 1)
            }
        }
    }
}
