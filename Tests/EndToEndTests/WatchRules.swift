import JSONText
import Objects
import TestSupport
import Testing

/// What a client that watches is told, and when.
@Suite(.timeLimit(.minutes(10))) struct WatchRules {
    private static let circle = within(2_000)

    private static func within(_ radius: Int, putting name: String = "d") -> String {
        #"{"type":"geodistance","field":"location","center":\#(point(35.68, 139.76)),"radius":\#(radius),"putDistanceInto":"\#(name)"}"#
    }

    /// The members of an object so many metres north of the circle's centre.
    private static func at(_ meters: Double, _ more: String = "") -> String {
        #""location":\#(point(35.68 + meters / 111_195, 139.76))"# + more
    }

    private static func put(
        _ id: String, _ members: String, on service: TestService, in bucket: String = "b1"
    ) async throws {
        _ = try await service.put(id, "{\(members)}", in: bucket)
    }

    private static func watching(
        limits: Limits = Limits(),
        _ body: @escaping @Sendable (TestService, WatchClient) async throws -> Void
    ) async throws {
        try await TestService.with(limits: limits) { service in
            try await WatchClient.with(port: service.port) { try await body(service, $0) }
        }
    }

    // MARK: Start

    @Test func `No notification of a watch stands before the answer to its watch.start`()
        async throws
    {
        try await Self.watching { service, client in
            try await Self.put("c1", Self.at(100), on: service)
            let lines = (1...50).map {
                WatchClient.request($0, "watch.start", queryParams(Self.circle, "", "", "b1"))
            }
            try client.send(lines.joined(separator: "\n") + "\n")
            var (answered, snapshots) = (Set<String>(), 0)
            while answered.count < 50 || snapshots < 50 {
                let message = try client.message()
                if let name = message["result"]?["watch"]?.string {
                    #expect(answered.insert(name).inserted, "a name is the connection's once")
                } else {
                    snapshots += 1
                    let name = try #require(message["params"]?["watch"]?.string)
                    #expect(answered.contains(name), "\(message.text)")
                }
            }
        }
    }

    @Test
    func `watch.start in a batch, or as a notification, is refused; the other methods are not`()
        async throws
    {
        try await Self.watching { service, client in
            let start = queryParams(Self.circle, "", "", "b1")
            let note = #"{"jsonrpc":"2.0","method":"watch.start","params":\#(start)}"#
            let long = start.dropLast() + String(repeating: " ", count: 40_000) + "}"
            for params in [start, String(long)] {
                try client.send("[\(WatchClient.request(1, "watch.start", params))]\n")
                let batch = try client.message()
                #expect(batch[0]?["error"]?["data"]?["errorCode"]?.string == "INVALID_REQUEST")
            }
            try client.send(note + "\n")
            let watch = try client.start(Self.circle)
            #expect(watch == "w1", "no other has begun")
            #expect(try await service.call("server.stats")["watches"]?["watches"]?.int == 1)
            let name = #"{"watch":"w1"}"#
            let move = #"{"watch":"w1","bucketQuery":{"clause":\#(Self.within(500))}}"#
            let batch = [
                ("server.ping", "{}"), ("watch.move", move), ("watch.sync", name),
                ("watch.stop", name), ("watch.sync", name),
            ].enumerated().map { WatchClient.request($0.offset, $0.element.0, $0.element.1) }
            try client.send("[\(batch.joined(separator: ","))]\n")
            var answers = try client.message()
            while answers["method"] != nil { answers = try client.message() }
            let all = try #require(answers.array)
            #expect(all.map { $0["id"]?.int } == [0, 1, 2, 3, 4])
            #expect(all.map { $0["result"] != nil } == [true, true, true, true, false])
        }
    }

    @Test func `What watch.sync promises stands before the batch that it is in`() async throws {
        try await Self.watching { service, client in
            let watch = try client.start(Self.circle)
            try client.sync(watch)
            for round in 1...20 {
                try await Self.put("c\(round)", Self.at(10), on: service)
                let ping = WatchClient.request(0, "server.ping", "{}")
                let sync = WatchClient.request(1, "watch.sync", #"{"watch":"\#(watch)"}"#)
                try client.send("[\(ping),\(sync),\(ping)]\n")
                while try client.message()["method"] != nil {}
                #expect(client.ids(watch).count == round)
            }
        }
    }

    @Test func `A query is refused as bucket.query refuses it, with the path`() async throws {
        try await Self.watching { service, client in
            for query in [
                #"{"bucket":"b1","bucketQuery":{"clause":{"type":"nonsense"}}}"#,
                #"{"bucket":"b1","bucketQuery":{"clause":{"type":"range","field":"n"}}}"#,
                #"{"bucket":"b1","bucketQuery":{"clause":{"type":"geodistance","field":"l","center":\#(point(91, 0)),"radius":1}}}"#,
                #"{"bucket":"b1","bucketQuery":{"orderBy":"_calculated.d"}}"#,
                #"{"bucket":"b1","bucketQuery":5}"#, #"{"bucket":"b1","fields":"name"}"#,
                #"{"bucket":"-"}"#, #"{}"#, #"{"bucket":"b1","nonsense":1}"#,
                #"{"bucket":"b1","bestEffortLimit":"x"}"#,
            ] {
                let expected = try await service.outcome("bucket.query", query)
                #expect(expected != "accepted")
                #expect(try client.outcome("watch.start", query) == expected, "\(query)")
            }
            #expect(try await service.call("server.stats")["watches"]?["watches"]?.int == 0)
        }
    }

    @Test func `A name that the connection does not have is refused, with the path watch`()
        async throws
    {
        try await Self.watching { service, client in
            let calls = ["watch.move", "watch.sync", "watch.stop"]
            for _ in 1...2 {
                for method in calls {
                    let outcome = try client.outcome(method, #"{"watch":"w7"}"#)
                    #expect(outcome == "INVALID_INPUT_DATA watch", "\(method)")
                    #expect(try client.outcome(method, "{}") == "INVALID_INPUT_DATA watch")
                }
                _ = try client.start(Self.circle)
            }
            try await WatchClient.with(port: service.port) { other in
                let outcome = try other.outcome("watch.stop", #"{"watch":"w1"}"#)
                #expect(outcome == "INVALID_INPUT_DATA watch", "another connection's")
            }
        }
    }

    // MARK: Snapshot

    @Test
    func `A snapshot is what matches, in the order of the query, in parts that replyBytes bounds`()
        async throws
    {
        var limits = Limits()
        limits.replyBytes = 2_000
        try await Self.watching(limits: limits) { service, client in
            let objects = (0..<60).map {
                ("o\($0 + 10)", Self.at(Double(($0 * 37) % 60) * 30, #","n":\#($0)"#))
            }
            try await service.store(objects)
            let watch = try client.start(Self.circle, order: #""orderBy":"_calculated.d""#)
            try client.sync(watch)
            let parts = client.told.filter { $0["method"]?.string == "watch.snapshot" }
                .compactMap { $0["params"] }
            #expect(parts.count > 2)
            #expect(client.told.allSatisfy { $0.utf8.count <= 2_000 })
            #expect(parts.map { $0["more"]?.bool } == parts.indices.map { $0 < parts.count - 1 })
            #expect(parts.map { $0["resume"] != nil } == parts.map { $0["more"]?.bool == false })
            #expect(Set(parts.map { $0["change"]?.int }).count == 1)
            let found = parts.flatMap { $0["objects"]?.array ?? [] }
            let ordered = try await service.query(
                Self.circle, order: #""orderBy":"_calculated.d""#, more: #""bestEffortLimit":200"#)
            var rest = ordered
            var expected = ordered["results"]?.array ?? []
            while let key = rest.nextPaginationKey {
                rest = try await service.query(
                    Self.circle, order: #""orderBy":"_calculated.d""#,
                    more: #""paginationKey":"\#(key)""#)
                expected += rest["results"]?.array ?? []
            }
            #expect(found == expected && found.count == 60)
        }
    }

    // MARK: Events

    @Test
    func
        `enter and change carry the object as fields says, with its distances; leave its id and why`()
        async throws
    {
        try await Self.watching { service, client in
            let watch = try client.start(Self.circle, more: #""fields":["name"]"#)
            try client.sync(watch)
            let steps = [
                Self.at(100, #","name":"Ben","n":1"#), Self.at(200, #","name":"Ben""#),
                Self.at(3_000, #","name":"Ben""#),
            ]
            for members in steps {
                try await Self.put("c7", members, on: service)
                try client.sync(watch)
            }
            let events = client.told.flatMap { $0["params"]?["events"]?.array ?? [] }
            #expect(events.map { $0["event"]?.string } == ["enter", "change", "leave"])
            #expect(events[0].names == ["event", "change", "object"])
            #expect(events[0]["object"]?.names == ["_id", "name", "_calculated"])
            let distance = try #require(events[1]["object"]?["_calculated"]?["d"]?.double)
            #expect(abs(distance - 200) < 1)
            #expect(events[2].names == ["event", "change", "_id", "reason"])
            let changes = events.compactMap { $0["change"]?.int }
            #expect(changes == changes.sorted() && Set(changes).count == 3)
        }
    }

    @Test func `leave says why: moved, changed, deleted, expired, query`() async throws {
        let clock = TestClock(1_000_000)
        try await TestService.with(clock: clock) { service in
            try await WatchClient.with(port: service.port) { client in
                let clause =
                    #"{"type":"and","clauses":[\#(Self.circle),\#(Self.eq("free", true))]}"#
                let watch = try client.start(clause)
                for id in ["c1", "c2", "c3", "c4", "c5", "c6"] {
                    try await Self.put(id, Self.at(100, #","free":true"#), on: service)
                }
                _ = try await service.put(
                    "c7", "{\(Self.at(100, #","free":true"#))}", more: #","expiresAt":2000000"#)
                try client.sync(watch)
                #expect(client.ids(watch).count == 7)
                client.forget()
                try await Self.put("c1", Self.at(3_000, #","free":true"#), on: service)
                try await Self.put("c2", Self.at(100, #","free":false"#), on: service)
                try await service.call("object.delete", #"{"bucket":"b1","id":"c3"}"#)
                // What is unknown does not match.
                try await Self.put("c4", Self.at(100), on: service)
                try client.sync(watch)
                let first = [
                    "leave c1 moved", "leave c2 changed", "leave c3 deleted", "leave c4 changed",
                ]
                #expect(client.events(watch) == first)
                client.forget()
                clock.now = 3_000_000
                try client.sync(watch)
                #expect(client.events(watch) == ["leave c7 expired"])
                client.forget()
                let move =
                    #"{"watch":"\#(watch)","bucketQuery":{"clause":\#(Self.eq("_id", "c5"))}}"#
                _ = try client.call("watch.move", move)
                try client.sync(watch)
                #expect(client.events(watch) == ["leave c6 query"] || client.ids(watch) == ["c5"])
                client.forget()
                try await service.call("bucket.delete", #"{"bucket":"b1"}"#)
                try client.sync(watch)
                #expect(client.events(watch) == ["leave c5 deleted"])
            }
        }
    }

    private static func eq(_ field: String, _ value: Bool) -> String {
        #"{"type":"eq","field":"\#(field)","value":\#(value)}"#
    }

    private static func eq(_ field: String, _ value: String) -> String {
        #"{"type":"eq","field":"\#(field)","value":"\#(value)"}"#
    }

    @Test func `A write that alters nothing that the watch shows makes no event`() async throws {
        try await Self.watching { service, client in
            try await Self.put("c1", Self.at(100, #","name":"Ben""#), on: service)
            let watch = try client.start(Self.circle, more: #""fields":["name"]"#)
            try client.sync(watch)
            client.forget()
            try await Self.put("c1", Self.at(100, #","name":"Ben","n":1"#), on: service)
            try await Self.put("c2", Self.at(3_000), on: service)
            try await Self.put("c1", Self.at(100), on: service, in: "b2")
            try client.sync(watch)
            #expect(client.events(watch) == [])
            try await Self.put("c1", Self.at(100, #","name":"Bea","n":1"#), on: service)
            try client.sync(watch)
            #expect(client.events(watch) == ["change c1"])
        }
    }

    @Test func `An object.putMany shows whole or not at all`() async throws {
        try await Self.watching { service, client in
            let watch = try client.start(Self.circle, more: #""fields":["n"]"#)
            try client.sync(watch)
            for round in 1...30 {
                try await service.store(
                    (0..<50).map { ("o\($0 + 10)", Self.at(Double($0), #","n":\#(round)"#)) })
            }
            var state: [String: Int] = [:]
            try client.sync(watch)
            for message in client.told {
                for event in message["params"]?["events"]?.array ?? [] {
                    let object = event["object"]
                    state[object?["_id"]?.string ?? ""] = object?["n"]?.int
                }
                #expect(state.isEmpty || state.count == 50)
                #expect(Set(state.values).count <= 1, "\(message.text)")
            }
            #expect(Set(state.values) == [30])
        }
    }

    @Test func `Deleted and created anew under one id is a leave and an enter`() async throws {
        try await Self.watching { service, client in
            try await Self.put("c1", Self.at(100, #","n":1"#), on: service)
            let watch = try client.start(Self.circle)
            try client.sync(watch)
            client.forget()
            let line = [
                WatchClient.request(1, "object.delete", #"{"bucket":"b1","id":"c1"}"#),
                WatchClient.request(
                    2, "object.put", #"{"bucket":"b1","id":"c1","object":{\#(Self.at(50))}}"#),
            ].joined(separator: "\n")
            try client.send(line + "\n")
            _ = try client.answer(to: 2)
            try client.sync(watch)
            #expect(client.events(watch) == ["leave c1 deleted", "enter c1"])
        }
    }

    @Test func `A watch that has nothing to tell for a while says so, with a resume`() async throws
    {
        var limits = Limits()
        limits.watchHeartbeatMilliseconds = 50
        try await Self.watching(limits: limits) { _, client in
            let watch = try client.start(Self.circle)
            for _ in 1...3 {
                let beat = try client.notification("watch.events", of: watch)
                #expect(beat["events"]?.array?.isEmpty == true)
                #expect(beat["resume"]?.string?.isEmpty == false)
            }
        }
    }

    // MARK: Move, sync, stop

    @Test func `watch.move is told as the difference`() async throws {
        try await Self.watching { service, client in
            try await service.store([
                ("c1", Self.at(100)), ("c2", Self.at(1_000)), ("c3", Self.at(3_000)),
            ])
            let watch = try client.start(Self.circle)
            try client.sync(watch)
            #expect(client.ids(watch) == ["c1", "c2"])
            client.forget()
            for (radius, expected) in [
                (500, ["leave c2 query"]), (5_000, ["enter c2", "enter c3"]), (5_000, []),
            ] {
                let move = #"{"watch":"w1","bucketQuery":{"clause":\#(Self.within(radius))}}"#
                #expect(try client.call("watch.move", move)["change"]?.int != nil)
                try client.sync(watch)
                #expect(client.events(watch) == expected, "\(radius)")
                #expect(!client.told.contains { $0["method"]?.string == "watch.snapshot" })
                client.forget()
            }
            let bad = #"{"watch":"w1","bucketQuery":{"clause":{"type":"nonsense"}}}"#
            #expect(
                try client.outcome("watch.move", bad)
                    == "INVALID_INPUT_DATA bucketQuery.clause.type")
        }
    }

    @Test
    func
        `watch.sync answers behind everything that was written before it, wherever it was written`()
        async throws
    {
        try await Self.watching { service, client in
            let watch = try client.start(Self.circle, more: #""fields":["n"]"#)
            var random = SplitMix64(seed: 7)
            for round in 1...200 {
                let id = "c\(Int.random(in: 10...30, using: &random))"
                let meters = Double.random(in: 0...4_000, using: &random)
                try await Self.put(id, Self.at(meters, #","n":\#(round)"#), on: service)
                let change = try #require(try client.sync(watch))
                let stats = try await service.call("server.stats")
                #expect(change == stats["change"]?.int)
                let expected = try await service.query(
                    Self.circle, more: #""fields":["n"],"bestEffortLimit":200"#)
                let shown = client.shown[watch] ?? [:]
                #expect(Set(expected.ids) == Set(shown.keys), "seed 7, round \(round)")
                for object in expected["results"]?.array ?? [] {
                    #expect(shown[object["_id"]?.string ?? ""] == object, "seed 7, round \(round)")
                }
            }
        }
    }

    @Test func `Nothing of a watch comes after the answer to its watch.stop`() async throws {
        try await Self.watching { service, client in
            for _ in 1...20 {
                let watch = try client.start(Self.circle)
                let writes = (0..<20).map {
                    WatchClient.request(
                        100 + $0, "object.put",
                        #"{"bucket":"b1","id":"c\#($0)0","object":{\#(Self.at(Double($0)))}}"#)
                }
                try client.send(writes.joined(separator: "\n") + "\n")
                _ = try client.call("watch.stop", #"{"watch":"\#(watch)"}"#)
                client.forget()
                let other = try client.start(Self.circle)
                try client.sync(other)
                #expect(!client.told.contains { $0["params"]?["watch"]?.string == watch })
                _ = try client.call("watch.stop", #"{"watch":"\#(other)"}"#)
            }
            #expect(try await service.call("server.stats")["watches"]?["watches"]?.int == 0)
        }
    }

    // MARK: Resuming

    @Test func `A watch goes on from a resume, on any connection, with the net effect`()
        async throws
    {
        try await TestService.with { service in
            try await service.store([
                ("c1", Self.at(1)), ("c2", Self.at(2)), ("c3", Self.at(3)),
            ])
            let resume = try await WatchClient.with(port: service.port) { client in
                let watch = try client.start(Self.circle, more: #""fields":["n"]"#)
                try client.sync(watch)
                return try #require(client.resume(watch))
            }
            try await Self.put("c1", Self.at(3_000), on: service)
            try await Self.put("c2", Self.at(20, #","n":2"#), on: service)
            try await Self.put("c2", Self.at(20, #","n":3"#), on: service)
            try await service.call("object.delete", #"{"bucket":"b1","id":"c3"}"#)
            try await Self.put("c4", Self.at(4), on: service)
            try await WatchClient.with(port: service.port) { client in
                let params = queryParams(
                    Self.circle, "", #""fields":["n"],"resume":"\#(resume)""#, "b1")
                let answer = try client.call("watch.start", params)
                #expect(answer["resumed"]?.bool == true)
                let watch = try #require(answer["watch"]?.string)
                try client.sync(watch)
                #expect(!client.told.contains { $0["method"]?.string == "watch.snapshot" })
                let events = client.events(watch)
                #expect(
                    Set(events.map { $0.split(separator: " ")[1] }) == ["c1", "c2", "c3", "c4"])
                #expect(events.contains { $0.hasPrefix("leave c1") })
                #expect(events.contains("leave c3 deleted"))
                #expect(client.shown[watch]?["c2"]?["n"]?.int == 3)
            }
        }
    }

    @Test func `A resume that cannot be used is no error: the watch begins with a snapshot`()
        async throws
    {
        try await Self.watching { service, client in
            try await Self.put("c1", Self.at(1, #","n":1"#), on: service)
            let first = try client.start(Self.circle)
            try client.sync(first)
            let resume = try #require(client.resume(first))
            let middle = resume.index(resume.startIndex, offsetBy: resume.count / 2)
            let other: Character = resume[middle] == "A" ? "B" : "A"
            let tampered = resume.replacing(
                resume[middle...middle], with: [other], maxReplacements: 1)
            for (clause, bucket, token, isUsed) in [
                (Self.circle, "b1", resume, true), (Self.circle, "b1", "", false),
                (Self.circle, "b1", "nonsense", false), (Self.circle, "b1", tampered, false),
                (Self.within(1_999), "b1", resume, false), (Self.circle, "b2", resume, false),
            ] {
                let params = queryParams(
                    clause, "", #""resume":"\#(token)","fields":["n"]"#, bucket)
                let answer = try client.call("watch.start", params)
                let watch = try #require(answer["watch"]?.string)
                #expect(answer["resumed"]?.bool == isUsed, "\(clause) \(bucket) \(token)")
                client.forget()
                try client.sync(watch)
                let snapshots = client.told.count {
                    $0["method"]?.string == "watch.snapshot"
                        && $0["params"]?["watch"]?.string == watch
                }
                #expect(snapshots == (isUsed ? 0 : 1))
            }
            #expect(try client.call("watch.start", #"{"bucket":"b1"}"#)["resumed"] == nil)
        }
    }

    // MARK: The connection

    @Test func `Who watches may be idle for longer than idleMilliseconds`() async throws {
        var limits = Limits()
        limits.idleMilliseconds = 60
        limits.watchHeartbeatMilliseconds = 100
        try await Self.watching(limits: limits) { service, client in
            let watch = try client.start(Self.circle)
            for _ in 1...5 { _ = try client.notification("watch.events", of: watch) }
            _ = try client.call("watch.stop", #"{"watch":"\#(watch)"}"#)
            let rest = try client.remaining()
            #expect(rest.isEmpty, "now it is idle")
        }
    }

    @Test func `A client that ends its side gets its answers; its watches end with it`()
        async throws
    {
        try await Self.watching { service, client in
            try await Self.put("c1", Self.at(1), on: service)
            try client.send(
                [
                    WatchClient.request(1, "watch.start", queryParams(Self.circle, "", "", "b1")),
                    WatchClient.request(2, "watch.sync", #"{"watch":"w1"}"#),
                ].joined(separator: "\n") + "\n")
            try client.finishSending()
            let lines = try client.remaining()
            #expect(lines.compactMap { $0["id"]?.int } == [1, 2])
            #expect(lines.first?["id"]?.int == 1 && lines.last?["id"]?.int == 2)
            #expect(client.ids("w1") == ["c1"], "the snapshot stands before the answer")
            while try await service.call("server.stats")["watches"]?["watches"]?.int != 0 {}
        }
    }

    @Test func `A client that never reads costs others nothing, and ends up with what there is`()
        async throws
    {
        var limits = Limits()
        limits.watchBytes = 65_536
        // A slow machine is no fault.
        limits.unreadMilliseconds = 600_000
        try await Self.watching(limits: limits) { service, slow in
            try await WatchClient.with(port: service.port) { quick in
                _ = try slow.start(Self.circle)
                let watch = try quick.start(Self.circle)
                let pad = String(repeating: "x", count: 10_000)
                // Far more than sockets hold.
                for round in 1...60 {
                    try await service.store(
                        (0..<20).map {
                            ("o\($0 + 10)", Self.at(Double($0), #","n":\#(round),"pad":"\#(pad)""#))
                        })
                    try quick.sync(watch)
                    let numbers = Set((quick.shown[watch] ?? [:]).values.map { $0["n"]?.int })
                    #expect(numbers == [round])
                }
                try slow.sync("w1")
                #expect(slow.shown["w1"] == quick.shown[watch])
                let events = slow.told.reduce(0) {
                    $0 + ($1["params"]?["events"]?.array?.count ?? 0)
                }
                #expect(events < 60 * 20, "it was told the net effect")
            }
        }
    }

    @Test func `A connection has 1,000 watches, and one write tells them all`() async throws {
        try await Self.watching { service, client in
            for _ in 1...1_000 { _ = try client.start(Self.circle, more: #""fields":["n"]"#) }
            #expect(
                try client.outcome("watch.start", #"{"bucket":"b1"}"#) == "TOO_MANY_REQUESTS")
            try client.sync("w1000")
            client.forget()
            try await Self.put("c1", Self.at(1), on: service)
            for number in 1...1_000 { try client.sync("w\(number)") }
            for number in 1...1_000 { #expect(client.events("w\(number)") == ["enter c1"]) }
            #expect(try await service.call("server.stats")["watches"]?["watches"]?.int == 1_000)
            _ = try client.call("watch.stop", #"{"watch":"w1"}"#)
            _ = try client.start(Self.circle)
        }
    }

    @Test(arguments: [1, 2, 3])
    func `There are at most watches of all connections, and watchesPerConnection of one`(
        _ count: Int
    ) async throws {
        var limits = Limits()
        limits.watches = 2
        try await Self.watching(limits: limits) { service, client in
            for number in 1...count {
                try await WatchClient.with(port: service.port) { other in
                    let each = number == 3 ? other : client
                    let outcome = try each.outcome("watch.start", #"{"bucket":"b1"}"#)
                    #expect(outcome == (number <= 2 ? "accepted" : "TOO_MANY_REQUESTS"))
                }
            }
        }
        limits.watches = 100
        limits.watchesPerConnection = 2
        try await Self.watching(limits: limits) { service, client in
            for number in 1...count {
                let outcome = try client.outcome("watch.start", #"{"bucket":"b1"}"#)
                #expect(outcome == (number <= 2 ? "accepted" : "TOO_MANY_REQUESTS"))
            }
            try await WatchClient.with(port: service.port) { other in
                let outcome = try other.outcome("watch.start", #"{"bucket":"b1"}"#)
                #expect(outcome == "accepted")
            }
        }
    }

    @Test(arguments: [2, 3, 4])
    func `A watch without a limit has at most watchObjects objects`(_ count: Int) async throws {
        var limits = Limits()
        limits.watchObjects = 3
        try await Self.watching(limits: limits) { service, client in
            try await service.store((0..<count).map { ("o\($0 + 10)", Self.at(Double($0))) })
            let outcome = try client.outcome("watch.start", queryParams(Self.circle, "", "", "b1"))
            #expect(outcome.hasPrefix(count <= 3 ? "accepted" : "INVALID_INPUT_DATA"))
        }
    }

    @Test(arguments: [1, 2, 3])
    func `A bucket has at most unindexedWatches watches that nothing finds`(_ count: Int)
        async throws
    {
        var limits = Limits()
        limits.unindexedWatches = 2
        try await Self.watching(limits: limits) { _, client in
            for number in 1...count {
                let clause = #"{"type":"range","field":"n","lowerLimit":\#(number)}"#
                let outcome = try client.outcome("watch.start", queryParams(clause, "", "", "b1"))
                #expect(
                    outcome == (number <= 2 ? "accepted" : "TOO_MANY_REQUESTS bucketQuery.clause"))
            }
            for radius in 1...5 { _ = try client.start(Self.within(radius)) }
        }
    }

    @Test func `A watch of many values is examined elsewhere, and answered in its place`()
        async throws
    {
        try await Self.watching { service, client in
            try await Self.put("c1", Self.at(1), on: service)
            let values = (0..<200).map { #""\#(String(repeating: "v", count: 200))\#($0)""# }
            let clause =
                #"{"type":"or","clauses":[\#(Self.circle),{"type":"in","field":"s","values":[\#(values.joined(separator: ","))]}]}"#
            let watch = try client.start(clause)
            try client.sync(watch)
            #expect(client.ids(watch) == ["c1"])
        }
    }

    // MARK: Statistics

    @Test
    func `server.stats counts watches, events and matched writes, and how far matching is behind`()
        async throws
    {
        try await Self.watching { service, client in
            let watch = try client.start(Self.circle)
            for number in 1...5 {
                try await Self.put("c\(number)0", Self.at(Double(number)), on: service)
                try client.sync(watch)
            }
            let watches = try await service.call("server.stats")["watches"]
            #expect(watches?["watches"]?.int == 1 && watches?["events"]?.int == 5)
            #expect(watches?["matchedWrites"]?.int == 5 && watches?["resyncs"]?.int == 0)
            #expect(watches?["changesBehind"]?.int == 0 && watches?["millisecondsBehind"]?.int == 0)
        }
    }

    // MARK: More than a circle

    @Test func `A ranking's events turn the old list into the new one`() async throws {
        try await Self.watching { service, client in
            try await service.store((1...9).map { ("o\($0)0", Self.at(Double($0) * 100)) })
            let more = #""bestEffortLimit":5,"intervalMilliseconds":0,"fields":[]"#
            let order = #""orderBy":"_calculated.d""#
            let watch = try client.start(Self.circle, order: order, more: more)
            try client.sync(watch)
            var list = client.told.flatMap { $0["params"]?["objects"]?.array ?? [] }
                .compactMap { $0["_id"]?.string }
            #expect(list == ["o10", "o20", "o30", "o40", "o50"])
            var random = SplitMix64(seed: 3)
            for round in 1...100 {
                client.forget()
                let id = "o\(Int.random(in: 1...9, using: &random))0"
                try await Self.put(
                    id, Self.at(Double.random(in: 0...2_500, using: &random)), on: service)
                try client.sync(watch)
                for event in client.told.flatMap({ $0["params"]?["events"]?.array ?? [] }) {
                    let id = event["object"]?["_id"]?.string ?? event["_id"]?.string ?? ""
                    switch event["event"]?.string {
                    case "leave": list.removeAll { $0 == id }
                    case "change" where event["from"] != nil:
                        #expect(event["from"]?.int == list.firstIndex(of: id))
                        list.removeAll { $0 == id }
                        list.insert(id, at: try #require(event["index"]?.int))
                    case "enter": list.insert(id, at: try #require(event["index"]?.int))
                    default: break
                    }
                }
                let expected = try await service.ids(
                    Self.circle, order: order, more: #""bestEffortLimit":5"#)
                #expect(list == expected, "seed 3, round \(round)")
            }
        }
    }

    @Test func `A centre that moves by itself takes its circle with it`() async throws {
        try await Self.watching { service, client in
            try await service.store([
                ("c7", Self.at(0)), ("s1", Self.at(100)), ("s2", Self.at(5_000)),
            ])
            let clause =
                #"{"type":"geodistance","field":"location","center":{"_type":"object","bucket":"b1","_id":"c7","field":"location"},"radius":500}"#
            let watch = try client.start(clause)
            try client.sync(watch)
            #expect(client.ids(watch) == ["c7", "s1"])
            try await Self.put("c7", Self.at(5_000), on: service)
            try client.sync(watch)
            #expect(client.ids(watch) == ["c7", "s2"])
            try await service.call("object.delete", #"{"bucket":"b1","id":"c7"}"#)
            client.forget()
            try client.sync(watch)
            #expect(client.ids(watch) == ["s2"], "the last position counts")
            #expect(client.events(watch).contains("center"))
            let outcome = try await service.queryOutcome(clause)
            #expect(outcome.hasPrefix("INVALID_INPUT_DATA"), "in watches only")
        }
    }

    @Test func `Couples meet within the radius and part beyond leaveRadius`() async throws {
        try await Self.watching { service, client in
            try await Self.put("c7", Self.at(0), on: service)
            try await Self.put("r3", #""at":\#(point(35.69, 139.76))"#, on: service, in: "riders")
            let pairs =
                #""pairs":{"bucket":"riders","field":"at","clause":{"type":"all"},"radius":200,"leaveRadius":230}"#
            let watch = try client.start(Self.within(9_000), more: pairs)
            try client.sync(watch)
            client.forget()
            var expected: [String] = []
            for (meters, event) in [
                (1_112.0, "meet"), (1_112.0 - 215, nil), (1_112.0 - 240, "part"),
            ] {
                try await Self.put("c7", Self.at(meters), on: service)
                if let event { expected.append(event) }
                try client.sync(watch)
                let events = client.told.flatMap { $0["params"]?["events"]?.array ?? [] }
                #expect(events.compactMap { $0["event"]?.string } == expected, "\(meters)")
                #expect(events.allSatisfy { $0["ids"]?.array == [.string("c7"), .string("r3")] })
            }
        }
    }
}
