import Geodesy
import JSONText
import NIOCore
import SyntheticData
import TestSupport
import Testing

@testable import LoadTest

/// Watches beside a load: what is sent, what is read of notifications, how delays are counted.
@Suite struct WatchingTests {
    private static func version(_ id: String, _ version: Int) -> EventDelays.Version {
        .init(id: id, version: version)
    }

    private static func notice(_ line: String) -> Notice? {
        Notice(ByteBuffer(string: line), JSONParser())
    }

    // MARK: Delays

    @Test func `A delay runs from a write's answer to each of its events`() {
        var delays = EventDelays()
        delays.answered(Self.version("o1", 1), at: 1_000)
        delays.arrived(Self.version("o1", 1), at: 1_400)
        delays.arrived(Self.version("o1", 1), at: 1_900)
        // Another version, and another object.
        delays.arrived(Self.version("o1", 2), at: 5_000)
        delays.arrived(Self.version("o2", 1), at: 5_000)
        let counted = delays.takeDelays()
        #expect(counted.totalCount == 2 && counted.countForValue(400) == 1)
        #expect(counted.countForValue(900) == 1)
        #expect(delays.takeDelays().totalCount == 0)
    }

    @Test func `An event before its write's answer has no delay, and counts once it comes`() {
        var delays = EventDelays()
        for _ in 0..<3 { delays.arrived(Self.version("o1", 1), at: 700) }
        #expect(delays.delays.totalCount == 0)
        delays.answered(Self.version("o1", 1), at: 900)
        #expect(delays.delays.totalCount == 3 && delays.delays.max == 0)
        delays.arrived(Self.version("o1", 1), at: 950)
        #expect(delays.delays.totalCount == 4 && delays.delays.countForValue(50) == 1)
    }

    @Test func `Writes and events of long ago are forgotten`() {
        var delays = EventDelays()
        delays.answered(Self.version("old", 1), at: 1)
        delays.arrived(Self.version("early", 1), at: 1)
        for number in 0..<EventDelays.most { delays.answered(Self.version("o", number), at: 2) }
        delays.arrived(Self.version("old", 1), at: 3)
        delays.answered(Self.version("early", 1), at: 3)
        #expect(delays.delays.totalCount == 0)
        delays.arrived(Self.version("o", EventDelays.most - 1), at: 4)
        #expect(delays.delays.totalCount == 1)
    }

    // MARK: Lines

    @Test func `A notification is told from an answer, and its versions are read`() {
        let events =
            #"{"jsonrpc":"2.0","method":"watch.events","params":{"watch":"w1","change":9,"events":[{"event":"enter","object":{"_id":"o1","_version":4}},{"event":"leave","_id":"o2","reason":"moved"},{"event":"change","object":{"_id":"o3"}}]}}"#
        #expect(Self.notice(events) == .events(3, [Self.version("o1", 4)]))
        for (method, notice) in [
            ("watch.snapshot", Notice.snapshot), ("watch.resync", .resync), ("watch.end", .end),
        ] {
            let line = #"{"jsonrpc":"2.0","method":"\#(method)","params":{"watch":"w1"}}"#
            #expect(Self.notice(line) == notice)
        }
        for line in [FakeService.pong, "", #"{"jsonrpc":"2.0","method":"other"}"#] {
            #expect(Self.notice(line) == nil)
        }
    }

    @Test func `An answer tells the version that a write made, and the name of a watch`() {
        let parser = JSONParser()
        let write = #"{"jsonrpc":"2.0","id":1,"result":{"_id":"o1","_modified":5,"_version":7}}"#
        #expect(Answer.version(in: ByteBuffer(string: write), parser) == Self.version("o1", 7))
        #expect(Answer.version(in: ByteBuffer(string: FakeService.pong), parser) == nil)
        let start = #"{"jsonrpc":"2.0","id":1,"result":{"watch":"w\"1"}}"#
        #expect(Answer.watch(in: ByteBuffer(string: start), parser) == Array(#""w\"1""#.utf8))
        #expect(Answer.watch(in: ByteBuffer(string: FakeService.pong), parser) == nil)
    }

    @Test func `A watch is a circle around an object, and follows step by step`() throws {
        var population = Population()
        let place = MicroPoint(latitude: 52, longitude: 13)
        population.objects = [.init(id: Array("o0".utf8), position: place)]
        var settings = RequestSettings(bucket: "b1", mix: try Mix("follow"))
        (settings.watchRadiusMeters, settings.moveMeters, settings.field) = (750, 100, "at")
        var maker = RequestMaker(settings, population, centers: [])
        let start = maker.start()
        let request = try JSONValue(parsing: start.line)
        #expect(request["method"]?.string == "watch.start" && start.line.last == 0x0A)
        let params = try #require(request["params"])
        #expect(params["bucket"]?.string == "b1" && params["fields"]?[0]?.string == "_version")
        let clause = try #require(params["bucketQuery"]?["clause"])
        #expect(clause["field"]?.string == "at" && clause["radius"]?.double == 750)
        var center = start.center
        for _ in 0..<20 {
            let next = maker.writeFollow(Array(#""w3""#.utf8), from: center)
            #expect(abs(Sphere.meters(center.coordinate, next.coordinate) - 100) < 1)
            let move = try JSONValue(parsing: maker.line.bytes)
            #expect(move["method"]?.string == "watch.move")
            #expect(move["params"]?["watch"]?.string == "w3")
            let point = try #require(move["params"]?["bucketQuery"]?["clause"]?["center"])
            #expect(point["lat"]?.double == next.coordinate.latitude)
            center = next
        }
    }

    @Test(arguments: [(0, 3), (2, 3), (7, 3), (1_000, 7)])
    func `Watches are spread evenly over the connections`(_ watches: Int, _ connections: Int)
        throws
    {
        var settings = LoadSettings(
            plan: .rate(1), requests: RequestSettings(bucket: "b1", mix: try Mix("get")))
        (settings.watches, settings.connections) = (watches, connections)
        let shares = (0..<connections).map { LoadRun.watches(of: $0, settings) }
        #expect(shares.reduce(0, +) == watches && shares.max()! - shares.min()! <= 1)
    }

    // MARK: A run

    /// Answers starts of watches, and lets a notification stand before and behind each answer.
    private static func reaction(_ number: Int) -> FakeService.Reaction {
        let event =
            #"{"jsonrpc":"2.0","method":"watch.events","params":{"watch":"w1","change":\#(number),"events":[{"event":"change","object":{"_id":"a1","_version":\#(number)}}]}}"#
        let answer =
            #"{"jsonrpc":"2.0","id":1,"result":{"watch":"w1","_id":"a1","_version":\#(number)}}"#
        return .answer([event, answer, event].joined(separator: "\n"))
    }

    @Test func `A run counts events between answers, and their delays`() async throws {
        let control: Control = { body in
            try await body { method, _ in
                let object =
                    #"{"objects":[{"_id":"a1","location":{"_type":"point","lat":1,"lon":2}}],"more":false}"#
                return Array((method == "bucket.export" ? object : "{}").utf8)
            }
        }
        let reaction: @Sendable (Int) -> FakeService.Reaction = { Self.reaction($0) }
        let report = try await FakeService.with(reaction) { port in
            var settings = LoadSettings(
                plan: .rate(200),
                requests: RequestSettings(bucket: "b1", mix: try Mix("move=3,follow=1")))
            (settings.connections, settings.watches) = (2, 2)
            (settings.stageSeconds, settings.warmUpSeconds) = (0.5, 0)
            let test = LoadDriver(Target(host: "127.0.0.1", port: port), settings, control)
            return try await test.run(date: "") { _ in }
        }
        let stage = report.stages[0]
        #expect(stage.all.requests == 100 && stage.all.failures == 0)
        let watching = try #require(stage.watching)
        let moves = try #require(stage.kinds["move"]?.requests)
        // Two events at each answer; the last may come when the stage is over.
        #expect((199...200).contains(watching.events), "\(watching.events)")
        #expect(watching.measured >= moves * 2 - 1 && watching.resyncs == 0)
        #expect(watching.delay[0] == 0)
        #expect(report.setup.watches == 2 && report.text.contains("2 watches with a radius of"))
        #expect(report.text.contains("events at rate/s"))
        #expect(try LoadReport(json: try report.json()) == report)
    }
}
