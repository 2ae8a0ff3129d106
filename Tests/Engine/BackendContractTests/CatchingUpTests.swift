import BackendContract
import EmbeddedBackend
import Logging
import Objects
import QueryLanguage
import Runtime
import Synchronization
import TestSupport
import Testing

/// Writes at a store that is far behind its upstream.
@Suite struct CatchingUpTests {
    /// An upstream that others have written to, until it is told that the store has caught up.
    private final class DistantUpstream: Upstream {
        struct State {
            var isBehind = true
            var ready: (@Sendable (StoreFailure?) -> Void)?
            var attempts = 0
            var committed: [[String]] = []
        }

        let state = Mutex(State())
        let history: [UInt8] = [1]

        func contains(_ change: ChangeNumber, of history: [UInt8]) -> Bool { true }

        func begin(
            after change: ChangeNumber, keys: [String]
        ) throws(StoreFailure) -> any UpstreamTransaction {
            let isBehind = state.withLock { state in
                state.attempts += 1
                return state.isBehind
            }
            if isBehind { throw .behind }
            return Transaction(self, after: change)
        }

        func whenCaughtUp(_ ready: @escaping @Sendable (StoreFailure?) -> Void) {
            state.withLock { $0.ready = ready }
        }

        func publishing(_ state: SharedState) {}

        func published(_ changes: SharedChanges) {}

        func announce(deletionOf clause: Clause, in bucket: BucketName) {}

        func removeListedRows() throws(StoreFailure) -> Bool { false }

        func forget(tombstonesBefore: Int64, requestsBefore: Int64) throws(StoreFailure) -> Bool {
            false
        }

        /// Lets the writes go on that wait, or refuses them.
        func end(_ failure: StoreFailure?, isBehind: Bool) {
            state.withLock { state in
                state.isBehind = isBehind
                defer { state.ready = nil }
                return state.ready
            }?(failure)
        }
    }

    private final class Transaction: UpstreamTransaction {
        let missed: SharedChanges
        private(set) var isCommitted = false
        private let upstream: DistantUpstream

        init(_ upstream: DistantUpstream, after change: ChangeNumber) {
            self.upstream = upstream
            missed = SharedChanges(
                to: SharedState(change: change, mark: [1]), by: StoreChanges(after: change))
        }

        func commit(_ changes: StoreChanges) throws(StoreFailure) -> SharedState {
            isCommitted = true
            let ids = changes.objects.map(\.metadata.id.text)
            upstream.state.withLock { if !ids.isEmpty { $0.committed.append(ids) } }
            return SharedState(change: changes.change, mark: [1])
        }

        func cancel() {}

        func request(key: String) -> RememberedRequest? { nil }

        func remember(_ request: RememberedRequest, key: String) {}

        func remembers(atLeast count: Int) -> Bool { false }

        func oldestRequestTime() -> Int64? { nil }

        func deleteRequests(until time: Int64, atMost count: Int) {}
    }

    private final class Answers: Sendable {
        let all = Mutex<[(id: String, failure: ServiceFailure.Reason?)]>([])
    }

    private static func put(_ id: String, on backend: SQLiteBackend, _ answers: Answers) {
        let object = PutObject(
            id: ObjectID(trusted: id),
            document: WrittenDocument(text: Array("{}".utf8), points: []))
        backend.submit(
            .put(bucket: BucketName(trusted: "shops"), object: object, condition: .none), key: nil,
            by: ""
        ) { result in
            var reason: ServiceFailure.Reason?
            if case .failure(let failure) = result { reason = failure.reason }
            answers.all.withLock { $0.append((id, reason)) }
        }
    }

    private static func withStore(
        _ body: (SQLiteBackend, DistantUpstream, Answers) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let upstream = DistantUpstream()
            let backend = try SQLiteBackend(
                path: folder + "/copy.sqlite", durability: .none, upstream: upstream,
                limits: Limits(), logger: Logger(label: "test"))
            try await body(backend, upstream, Answers())
            try backend.close()
        }
    }

    @Test func `writes wait in their order until the store has caught up`() async throws {
        try await Self.withStore { backend, upstream, answers in
            for number in 1...5 { Self.put("o\(number)", on: backend, answers) }
            let waits = try await waited { upstream.state.withLock { $0.ready != nil } }
            #expect(waits && answers.all.withLock { $0.isEmpty })
            Self.put("o6", on: backend, answers)
            // Caught up with what was known, while others went on.
            upstream.end(nil, isBehind: true)
            let waitsAgain = try await waited { upstream.state.withLock { $0.ready != nil } }
            #expect(waitsAgain && answers.all.withLock { $0.isEmpty })
            upstream.end(nil, isBehind: false)
            let areAnswered = try await waited { answers.all.withLock { $0.count == 6 } }
            #expect(areAnswered)
            let ids = (1...6).map { "o\($0)" }
            answers.all.withLock { answers in
                #expect(answers.map(\.id) == ids && answers.allSatisfy { $0.failure == nil })
            }
            #expect(upstream.state.withLock { $0.committed.flatMap(\.self) } == ids)
        }
    }

    @Test func `writes are refused when the store takes too long, and none is done`() async throws {
        try await Self.withStore { backend, upstream, answers in
            for number in 1...3 { Self.put("o\(number)", on: backend, answers) }
            let waits = try await waited { upstream.state.withLock { $0.ready != nil } }
            #expect(waits)
            upstream.end(.unreachable("it takes too long"), isBehind: true)
            let areRefused = try await waited {
                upstream.end(.unreachable("it takes too long"), isBehind: true)
                return answers.all.withLock { $0.count == 3 }
            }
            #expect(areRefused)
            answers.all.withLock { answers in
                #expect(answers.map(\.id) == ["o1", "o2", "o3"])
                #expect(answers.allSatisfy { $0.failure == .temporarilyUnavailable })
            }
            upstream.end(nil, isBehind: false)
            Self.put("o4", on: backend, answers)
            let isAnswered = try await waited { answers.all.withLock { $0.last?.id == "o4" } }
            #expect(isAnswered && answers.all.withLock { $0.last?.failure == nil })
            #expect(upstream.state.withLock { $0.committed } == [["o4"]])
        }
    }

    @Test(.needsPostgreSQL)
    func `a node writes beside one whose every transaction is more than is fetched at once`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let pair = try NodePair(.init(path: folder + "/nodes"))
            defer { try? pair.close() }
            let bulk = DirectClient(backend: pair, limits: Limits())
            let single = DirectClient(backend: pair.reversed, limits: Limits())
            let text = String(repeating: "x", count: 60_000)
            let objects = (0..<50).map { #"{"_id":"o\#($0)","text":"\#(text)"}"# }
                .joined(separator: ",")
            let isOver = Interrupt()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while !isOver.isRaised {
                        try await bulk.value(
                            "object.putMany", #"{"bucket":"much","objects":[\#(objects)]}"#)
                    }
                }
                do {
                    defer { isOver.raise() }
                    for number in 0..<10 {
                        try await single.value(
                            "object.put", #"{"bucket":"shops","id":"o\#(number)","object":{}}"#)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try pair.check(until: nil).problems == [])
            #expect(pair.reading.statistics().cluster?.rebuilds == 0)
        }
    }
}
