import Glibc
import JSONText
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import GeoBucketClient

/// How a client keeps its connection, and what it does when it loses it.
@Suite struct ConnectionTests {
    /// Every pause next to nothing, so that a test does not wait.
    static func configuration(
        _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) -> ClientConfiguration {
        var configuration = ClientConfiguration()
        configuration.firstPause = .milliseconds(1)
        configuration.longestPause = .milliseconds(2)
        change(&configuration)
        return configuration
    }

    static func address(_ port: Int) -> ServiceAddress {
        ServiceAddress(host: "127.0.0.1", port: port)
    }

    @Test func `A hundred tasks share one connection, each gets its own answer`() async throws {
        try await TestService.with { service in
            try await GeoBucketClient.with(Self.address(service.port)) { client in
                let bucket = client.bucket("numbers")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<100 {
                        group.addTask {
                            let object = bucket.createObject(withID: "n-\(number)")
                            object.setObject(number, forKey: "n")
                            try await object.saveAllFields()
                            let read = try await bucket.object(withID: "n-\(number)")
                            #expect(read.int(forKey: "n") == number)
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await bucket.count() == 100)
                let stats = try await client.call("server.stats")
                // The other one is the test service's own.
                #expect(stats["connections"]?["open"]?.int == 2, "\(stats.text)")
            }
        }
    }

    @Test func `A read whose connection ends is asked again on a new one`() async throws {
        try await FakeService({ connection, _ in
            connection < 3 ? .hangUp : .result(#"{"count":7}"#)
        }).serve { service, port in
            try await GeoBucketClient.with(Self.address(port), configuration: Self.configuration())
            {
                client in
                let count = try await client.bucket("some").count()
                #expect(count == 7)
            }
            #expect(service.connectionCount == 4)
        }
    }

    @Test func `A write whose connection ends is not asked again and says so`() async throws {
        try await FakeService({ _, _ in .hangUp }).serve { service, port in
            try await GeoBucketClient.with(Self.address(port), configuration: Self.configuration())
            {
                client in
                _ = await #expect(throws: ClientFailure.disconnected) {
                    try await client.bucket("some").createObject().save()
                }
            }
            #expect(service.requests.count == 1)
            #expect(service.requests[0]["params"]?["requestKey"] == nil)
        }
    }

    @Test func `A write with a request key is asked again under the same key`() async throws {
        try await FakeService({ connection, _ in
            connection == 0
                ? .hangUp : .result(#"{"_id":"aa","_created":1,"_modified":1,"_version":1}"#)
        }).serve { service, port in
            let configuration = Self.configuration { $0.usesRequestKeys = true }
            try await GeoBucketClient.with(Self.address(port), configuration: configuration) {
                client in
                for _ in 0..<2 { try await client.bucket("some").createObject().save() }
            }
            let keys = service.requests.map { $0["params"]?["requestKey"]?.string }
            #expect(keys.count == 3 && !keys.contains(nil))
            #expect(keys[0] == keys[1] && keys[1] != keys[2])
        }
    }

    @Test func `What the service puts off is asked again, what it refuses is not`() async throws {
        for (name, isRetried) in [
            ("TOO_MANY_REQUESTS", true), ("TEMPORARY_UNAVAILABLE_ERROR", true),
            ("QUERY_TIMEOUT", false), ("INVALID_INPUT_DATA", false),
        ] {
            let error = #"{"code":1,"message":"m","data":{"errorCode":"\#(name)","path":"a.b"}}"#
            let count = Mutex(0)
            try await FakeService({ _, _ in
                count.withLock { $0 += 1 }
                return count.withLock { $0 } == 1 ? .error(error) : .result(#"{"count":7}"#)
            }).serve { service, port in
                try await GeoBucketClient.with(
                    Self.address(port), configuration: Self.configuration()
                ) { client in
                    if isRetried {
                        let answer = try await client.bucket("some").count()
                        #expect(answer == 7)
                    } else {
                        let failure = await #expect(throws: ClientFailure.self) {
                            try await client.bucket("some").count()
                        }
                        let refusal = RemoteFailure(
                            code: 1, errorCode: name, message: "m", path: "a.b")
                        #expect(failure == .refused(refusal))
                    }
                }
                #expect(service.requests.count == (isRetried ? 2 : 1), "\(name)")
            }
        }
    }

    @Test func `No call is tried again when there is no time for it`() async throws {
        try await FakeService({ _, _ in .hangUp }).serve { service, port in
            let configuration = Self.configuration { $0.retryTime = .zero }
            try await GeoBucketClient.with(Self.address(port), configuration: configuration) {
                client in
                _ = await #expect(throws: ClientFailure.disconnected) { try await client.ping() }
            }
            #expect(service.requests.count == 1)
        }
    }

    @Test func `A service that says nothing is given up at the timeout`() async throws {
        try await FakeService({ connection, _ in
            connection == 0 ? .silence : .result("\"pong\"")
        }).serve { service, port in
            let configuration = Self.configuration { $0.requestTimeout = .seconds(3) }
            try await GeoBucketClient.with(Self.address(port), configuration: configuration) {
                client in
                _ = await #expect(throws: ClientFailure.timedOut) { try await client.ping() }
                // Nothing came back at all, so the next call takes a new connection. On a machine that
                // has other work to do it may find no time either; the one after it will.
                for attempt in 1... {
                    do {
                        try await client.ping()
                        break
                    } catch ClientFailure.timedOut where attempt < 20 {}
                }
            }
            #expect(service.connectionCount >= 2)
        }
    }

    @Test func `A cancelled call ends at once, the others on its connection go on`() async throws {
        try await FakeService({ _, method in
            method == "server.stats" ? .silence : .result("\"pong\"")
        }).serve { service, port in
            try await GeoBucketClient.with(Self.address(port)) { client in
                let silent = Task { try await client.call("server.stats") }
                while service.requests.isEmpty { await Task.yield() }
                silent.cancel()
                _ = await #expect(throws: CancellationError.self) { try await silent.value }
                // The next answer belongs to the cancelled call; the one behind it to this one.
                let first = Task { try await client.call("server.ping") }
                while service.requests.count < 2 { await Task.yield() }
                let second = Task { try await client.call("server.ping") }
                let answer = try await first.value
                #expect(answer == .string("pong"))
                second.cancel()
            }
            #expect(service.connectionCount == 1)
        }
    }

    @Test func `A new connection begins with the login`() async throws {
        try await FakeService({ connection, method in
            method == "auth.login" ? .result("{}") : connection == 0 ? .hangUp : .result("\"pong\"")
        }).serve { service, port in
            let configuration = Self.configuration { $0.token = "secret" }
            try await GeoBucketClient.with(Self.address(port), configuration: configuration) {
                try await $0.ping()
            }
            #expect(
                service.requests.map { $0["method"]?.string }
                    == ["auth.login", "server.ping", "auth.login", "server.ping"])
            #expect(service.requests[0]["params"] == .object(["token": .string("secret")]))
        }
    }

    @Test func `A login that is refused ends the call with the service's reason`() async throws {
        let refusal = #"{"code":1401,"message":"no","data":{"errorCode":"WRONG_TOKEN"}}"#
        try await FakeService({ _, _ in .error(refusal) }).serve { service, port in
            let configuration = Self.configuration { $0.token = "wrong" }
            let failure = await #expect(throws: ClientFailure.self) {
                try await GeoBucketClient.with(Self.address(port), configuration: configuration) {
                    try await $0.ping()
                }
            }
            guard case .refused(let remote)? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(remote.errorCode == "WRONG_TOKEN" && remote.code == 1401)
            #expect(service.requests.count == 1)
        }
    }

    @Test func `Where nobody listens the failure names the address`() async throws {
        let failure = await #expect(throws: ClientFailure.self) {
            try await GeoBucketClient.with(Self.address(1)) { try await $0.ping() }
        }
        #expect("\(failure!)".contains("127.0.0.1:1"))
    }

    @Test func `A closed client says so`() async throws {
        try await TestService.with { service in
            let client = ServiceClient(Self.address(service.port))
            try await client.ping()
            await client.close()
            await #expect(throws: ClientFailure.closed) { try await client.ping() }
        }
    }

    @Test func `A call of the app's own is asked again only with a key of its own`() async throws {
        for (params, requests) in [("{}", 1), (#"{"requestKey":"k"}"#, 2)] {
            try await FakeService({ connection, _ in
                connection == 0 ? .hangUp : .result("{}")
            }).serve { service, port in
                let configuration = Self.configuration { $0.usesRequestKeys = true }
                try await GeoBucketClient.with(Self.address(port), configuration: configuration) {
                    client in
                    let params = try JSONValue(parsing: params)
                    _ = try? await client.call("object.create", params)
                }
                #expect(service.requests.count == requests, "\(params)")
            }
        }
    }

    @Test func `A connection lost during the login was none, so writes are tried again too`()
        async throws
    {
        try await FakeService({ connection, method in
            connection == 0
                ? .hangUp : .result(#"{"_id":"aa","_created":1,"_modified":1,"_version":1}"#)
        }).serve { service, port in
            let configuration = Self.configuration { $0.token = "secret" }
            let client = ServiceClient(Self.address(port), configuration: configuration)
            try await client.bucket("some").createObject().save()
            await client.close()
            #expect(
                service.requests.map { $0["method"]?.string }
                    == ["auth.login", "auth.login", "object.create"])
        }
    }

    @Test func `TLS that is never agreed on is given up at the connection's timeout`() async throws
    {
        try await FakeService({ _, _ in .silence }).serve { _, port in
            let configuration = Self.configuration {
                $0.tls = ClientTLS()
                $0.connectTimeout = .milliseconds(300)
            }
            let failure = await #expect(throws: ClientFailure.self) {
                try await GeoBucketClient.with(Self.address(port), configuration: configuration) {
                    try await $0.ping()
                }
            }
            #expect("\(failure!)".contains("took too long"), "\(failure!)")
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `A cancelled task does not wait for its connection`() async throws {
        try await FakeService({ _, _ in .silence }).serve { service, port in
            let configuration = Self.configuration {
                $0.tls = ClientTLS()
                $0.connectTimeout = .seconds(3_600)
            }
            let connecting = Task {
                try await GeoBucketClient.with(Self.address(port), configuration: configuration) {
                    try await $0.ping()
                }
            }
            let single = Task {
                try await LineConnection.with(
                    host: "127.0.0.1", port: port, tls: ClientTLS()
                ) { _ in }
            }
            while service.connectionCount < 2 { await Task.yield() }
            connecting.cancel()
            single.cancel()
            _ = await #expect(throws: CancellationError.self) { try await connecting.value }
            _ = await #expect(throws: CancellationError.self) { try await single.value }
        }
    }

    @Test func `A cancelled task sends nothing`() async throws {
        try await FakeService({ _, _ in .result("{}") }).serve { service, port in
            try await GeoBucketClient.with(Self.address(port)) { client in
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    _ = try await client.call("object.create")
                }
                _ = await #expect(throws: CancellationError.self) { try await task.value }
            }
            #expect(service.requests.isEmpty)
        }
    }

    @Test func `A call with little time left does not end the connection of all`() async throws {
        try await FakeService({ _, _ in .silence }).serve { _, port in
            for (silence, isOpen) in [(Duration.seconds(20), true), (.milliseconds(20), false)] {
                let connection = try await LineConnection.open(
                    Self.address(port), .seconds(10), tls: nil, silence: silence
                ).get()
                let answer = connection.begin(
                    "server.ping", Array("{}".utf8), deadline: .now() + .milliseconds(100))
                _ = await #expect(throws: ClientFailure.timedOut) { try await answer.result() }
                if !isOpen { try await connection.ended.get() }
                #expect(connection.isOpen == isOpen)
                try? await connection.close().get()
            }
        }
    }

    @Test func `A call is tried again for a time that begins with its loss`() async throws {
        try await FakeService({ connection, _ in
            guard connection == 0 else { return .result("\"pong\"") }
            // The call has to take longer than the retry time, by the system's clock.
            usleep(400_000)
            return .hangUp
        }).serve { service, port in
            let configuration = Self.configuration { $0.retryTime = .milliseconds(300) }
            try await GeoBucketClient.with(Self.address(port), configuration: configuration) {
                try await $0.ping()
            }
            #expect(service.connectionCount == 2)
        }
    }

    @Test func `An attempt to connect that takes all the time is not made again`() async throws {
        try await FakeService({ _, _ in .silence }).serve { service, port in
            let configuration = Self.configuration {
                $0.tls = ClientTLS()
                ($0.connectTimeout, $0.retryTime) = (.milliseconds(600), .milliseconds(600))
            }
            let client = ServiceClient(Self.address(port), configuration: configuration)
            let failure = await #expect(throws: ClientFailure.self) { try await client.ping() }
            guard case .unreachable? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(service.connectionCount == 1)
            await client.close()
        }
    }

    @Test func `A client that nobody holds ends its connection`() async throws {
        try await TestService.with { service in
            do {
                let client = ServiceClient(Self.address(service.port))
                try await client.ping()
            }
            let isClosed = try await waited {
                try await service.call("server.stats")["connections"]?["open"]?.int == 1
            }
            #expect(isClosed)
        }
    }

    @Test func `The pauses grow to their bound`() {
        var configuration = ClientConfiguration()
        configuration.firstPause = .milliseconds(100)
        configuration.longestPause = .seconds(1)
        var random = SplitMix64(seed: 1)
        for (retry, ceiling) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1_000), (99, 1_000)] {
            for _ in 0..<50 {
                let pause = configuration.pause(beforeRetry: retry, using: &random)
                #expect(pause >= .milliseconds(ceiling) / 2 && pause <= .milliseconds(ceiling))
            }
        }
    }
}
