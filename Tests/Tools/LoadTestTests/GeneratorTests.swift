import JSONText
import SyntheticData
import Testing

@testable import LoadTest

/// What a load test sees of services that misbehave.
@Suite struct GeneratorTests {
    /// Runs one stage against a fake service, without warm-up.
    private static func run(
        rate: Double, seconds: Double, connections: Int, patience: Double = 20,
        _ reaction: @escaping @Sendable (Int) -> FakeService.Reaction
    ) async throws -> LoadReport {
        try await FakeService.with(reaction) { port in
            var settings = LoadSettings(
                plan: .rate(rate), requests: RequestSettings(bucket: "b1", mix: try Mix("get")))
            settings.connections = connections
            settings.stageSeconds = seconds
            settings.warmUpSeconds = 0
            settings.patienceSeconds = patience
            let test = LoadDriver(Target(host: "127.0.0.1", port: port), settings, Self.control)
            return try await test.run(date: "2026-01-01T00:00:00Z") { _ in }
        }
    }

    /// A bucket of one object.
    private static let control: Control = { body in
        try await body { method, _ in
            let object =
                #"{"objects":[{"_id":"a1","location":{"_type":"point","lat":1,"lon":2}}],"more":false}"#
            return Array((method == "bucket.export" ? object : "{}").utf8)
        }
    }

    @Test func `All that was due in a stall shows it, not only what was under way`() async throws {
        let (rate, stall, connections) = (1_000.0, 0.4, 10)
        let report = try await Self.run(rate: rate, seconds: 1.5, connections: connections) {
            $0 == 200 ? .stall(.nanoseconds(Int64(stall * 1e9))) : .answer(FakeService.pong)
        }
        let all = report.stages[0].all
        #expect(all.requests == 1_500 && all.failures == 0)
        // What was due in the first half of the stall waited for at least the other half. A
        // generator that waits for answers before it sends would have ten such requests.
        let slow = rate * stall / 2
        #expect(all.latency[75] < all.latency[90])
        let share = 100 - slow * 0.9 / 1_500 * 100
        #expect(Double(connections) < slow * 0.9 && share < 90)
        #expect(all.latency[90] >= stall / 2 * 1e6)
        #expect(report.stages[0].generator.waits >= Int(rate * stall * 0.9) - connections)
    }

    @Test func `Errors are counted by their codes and have latencies`() async throws {
        let error =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":1404,"message":"no","data":{"errorCode":"OBJECT_NOT_FOUND"}}}"#
        let report = try await Self.run(rate: 500, seconds: 0.4, connections: 4) {
            switch $0 % 10 {
            case 0: .answer(error)
            case 1: .answer("nonsense")
            default: .answer(FakeService.pong)
            }
        }
        let all = report.stages[0].all
        #expect(all.requests == 200)
        #expect(all.errors == ["OBJECT_NOT_FOUND": 20, OwnError.malformed: 20])
        #expect(report.timeline.reduce(0) { $0 + $1.failed } == 40)
        #expect(report.timeline.reduce(0) { $0 + $1.answered } == 160)
    }

    @Test func `A lost connection fails its request and is opened again`() async throws {
        let report = try await Self.run(rate: 200, seconds: 1, connections: 2) {
            $0 == 20 || $0 == 40 ? .close : .answer(FakeService.pong)
        }
        #expect(report.stages[0].all.requests == 200)
        #expect(report.stages[0].all.errors == [OwnError.connectionLost: 2])
        #expect(report.reconnects >= 1)
    }

    @Test func `What is never answered, or never sent for it, is counted as failed`() async throws {
        let report = try await Self.run(rate: 100, seconds: 0.5, connections: 2, patience: 0.3) {
            _ in .silence
        }
        #expect(report.stages[0].all.requests == 50)
        #expect(report.stages[0].all.errors == [OwnError.noAnswer: 2, OwnError.notSent: 48])
    }

    @Test func `A service that is not there is told`() async throws {
        let settings = LoadSettings(
            plan: .rate(1), requests: RequestSettings(bucket: "b1", mix: try Mix("get")))
        // Nobody listens on port 1.
        let test = LoadDriver(Target(host: "127.0.0.1", port: 1), settings, Self.control)
        await #expect(throws: LoadFailure.self) { try await test.run(date: "") { _ in } }
    }

    @Test func `A cancelled test ends early with a report`() async throws {
        let willing: @Sendable (Int) -> FakeService.Reaction = { _ in .answer(FakeService.pong) }
        let report = try await FakeService.with(willing) { port in
            var settings = LoadSettings(
                plan: .rate(100), requests: RequestSettings(bucket: "b1", mix: try Mix("get")))
            settings.stageSeconds = 3_600
            settings.warmUpSeconds = 0
            let test = LoadDriver(Target(host: "127.0.0.1", port: port), settings, Self.control)
            let (ticks, tick) = AsyncStream<Void>.makeStream()
            let run = Task {
                try await test.run(date: "") { _ in tick.yield() }
            }
            for await _ in ticks { break }
            run.cancel()
            return try await run.value
        }
        #expect(report.isCutShort)
        #expect(report.stages[0].all.requests > 0 && report.stages[0].all.failures == 0)
    }
}
