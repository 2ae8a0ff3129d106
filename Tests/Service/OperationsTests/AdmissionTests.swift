import Objects
import ServiceDesk
import TestSupport
import Testing

/// Who is admitted how often, and why not.
@Suite struct AdmissionTests {
    /// A service by a clock of the test's, in nanoseconds.
    private static func with(
        _ limits: Limits, access: AccessControl? = nil,
        _ body: (QueryService, TestClock) throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let time = TestClock(1_000_000_000)
            var opening = BackendKind.Opening(path: folder + "/store.sqlite")
            opening.clock.nanoseconds = { time.now }
            let backend = try BackendKind.embedded.open(opening)
            defer { try? backend.close() }
            let service = QueryService(
                backend: backend, limits: limits, access: access, clock: opening.clock)
            try body(service, time)
        }
    }

    /// A service that asks for logins and accepts none, and somebody who calls it.
    private static func withoutTokens(
        requestsPerSecond: Int, _ body: (QueryService, Caller, TestClock) throws -> Void
    ) async throws {
        var limits = Limits()
        limits.requestsPerSecond = requestsPerSecond
        try await with(limits, access: AccessControl(tokens: TokenFile())) { service, time in
            try body(service, Caller(address: "a1"), time)
        }
    }

    /// Nil if the request is admitted; else the error code and after how many milliseconds to come
    /// again.
    private static func refusal(
        _ operation: ServiceDesk.Operation, _ caller: Caller, _ service: QueryService
    ) -> String? {
        do throws(ServiceFailure) {
            try service.admit(operation, from: caller)
            return nil
        } catch {
            let pause = error.retryAfterMilliseconds.map { " \($0)" } ?? ""
            return error.reason.rawValue + pause
        }
    }

    /// The rule in plain words: a full bucket of `rate` tokens, one more each `1 / rate` seconds.
    private struct Oracle {
        private let rate: Int64
        private let interval: Int64
        /// For each name, when each of its tokens is there again.
        private var tokens: [String: [Int64]] = [:]

        init(rate: Int) {
            self.rate = Int64(rate)
            interval = 1_000_000_000 / Int64(rate)
        }

        /// Nanoseconds to wait; 0 if a token was taken.
        mutating func take(_ name: String, now: Int64) -> Int64 {
            var taken = (tokens[name] ?? []).filter { $0 > now }
            defer { tokens[name] = taken }
            guard taken.count >= rate else {
                taken.append((taken.max() ?? now) + interval)
                return 0
            }
            return taken.min()! - now
        }
    }

    @Test(arguments: Seeds.first(6))
    func `Each address has a rate of its own, however many addresses there are`(
        _ seed: UInt64
    ) async throws {
        var random = SplitMix64(seed: seed)
        var limits = Limits()
        limits.requestsPerSecond = random.pick([1, 3, 7, 50])
        var oracle = Oracle(rate: limits.requestsPerSecond)
        // Above a thousand names those are forgotten that need no memory any more.
        let callers = (0..<random.pick([5, 3_000])).map { Caller(address: "10.0.\($0)") }
        try await Self.with(limits) { service, time in
            var refused = 0
            for step in 0..<8_000 {
                if random.oneIn(4) { time.advance(Int64(random.below(40_000_000))) }
                let caller = callers[random.oneIn(2) ? random.below(callers.count) : step % 3]
                let wait = oracle.take(caller.address, now: time.now)
                let expected =
                    wait == 0 ? nil : "TOO_MANY_REQUESTS \((wait + 999_999) / 1_000_000)"
                let found = Self.refusal(.open, caller, service)
                try #require(found == expected, "seed \(seed), step \(step)")
                if wait > 0 { refused += 1 }
            }
            #expect(refused > 100, "seed \(seed): nothing was refused")
        }
    }

    @Test func `A principal has one rate on all its connections, and none of its address's`()
        async throws
    {
        var limits = Limits()
        limits.requestsPerSecond = 2
        var file = TokenFile()
        let tokens = try ["alice", "bob"].map { name in
            let token = Token()
            file.add(.init(token, try Grant(principal: name, role: .read), created: 0))
            return token.text
        }
        try await Self.with(limits, access: AccessControl(tokens: file)) { service, time in
            let callers = try [(0, "a1"), (0, "a2"), (1, "a1")].map { token, address in
                let caller = Caller(address: address)
                _ = try service.logIn(tokens[token], caller)
                return caller
            }
            let stranger = Caller(address: "a1")
            func refusals(_ callers: [Caller]) -> [String?] {
                callers.map { Self.refusal(.open, $0, service) }
            }
            #expect(refusals([callers[0], callers[1]]) == [nil, nil])
            #expect(refusals(callers) == ["TOO_MANY_REQUESTS 500", "TOO_MANY_REQUESTS 500", nil])
            #expect(refusals([stranger, stranger]) == [nil, nil])
            #expect(refusals([callers[2], stranger]) == [nil, "TOO_MANY_REQUESTS 500"])
            time.advance(500_000_000)
            #expect(refusals([callers[1], callers[0]]) == [nil, "TOO_MANY_REQUESTS 500"])
        }
    }

    @Test func `A request that comes too often is told so before it is asked for a login`()
        async throws
    {
        try await Self.withoutTokens(requestsPerSecond: 1) { service, caller, time in
            let read = ServiceDesk.Operation.read(BucketName(trusted: "shops"))
            #expect(Self.refusal(read, caller, service) == "UNAUTHORIZED")
            #expect(Self.refusal(read, caller, service) == "TOO_MANY_REQUESTS 1000")
            time.advance(999_999_999)
            #expect(Self.refusal(read, caller, service) == "TOO_MANY_REQUESTS 1")
            time.advance(1)
            #expect(Self.refusal(read, caller, service) == "UNAUTHORIZED")
        }
    }

    @Test func `Without a limit nobody is too early, and only what is open needs no login`()
        async throws
    {
        try await Self.withoutTokens(requestsPerSecond: 0) { service, caller, _ in
            for _ in 0..<1_000 { #expect(Self.refusal(.open, caller, service) == nil) }
            for operation in [.invalid, .administer, .ownWatch] as [ServiceDesk.Operation] {
                #expect(Self.refusal(operation, caller, service) == "UNAUTHORIZED")
            }
        }
    }

    @Test func `Other rates count from the next request on, and the service tells them`()
        async throws
    {
        try await Self.withoutTokens(requestsPerSecond: 1) { service, caller, time in
            #expect(Self.refusal(.open, caller, service) == nil)
            #expect(Self.refusal(.open, caller, service) == "TOO_MANY_REQUESTS 1000")
            var limits = service.limits
            limits.requestsPerSecond = 3
            limits.slowQueryMilliseconds = 7
            service.apply(limits)
            #expect(service.live.slowQueryMilliseconds == 7)
            // What was taken by the former rate stays taken.
            #expect(Self.refusal(.open, caller, service) == "TOO_MANY_REQUESTS 334")
            time.advance(1_000_000_000)
            let refusals = (0..<4).map { _ in Self.refusal(.open, caller, service) }
            #expect(refusals == [nil, nil, nil, "TOO_MANY_REQUESTS 334"])
            limits.requestsPerSecond = 0
            service.apply(limits)
            for _ in 0..<100 { #expect(Self.refusal(.open, caller, service) == nil) }
        }
    }
}
