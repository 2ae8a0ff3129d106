import Geodesy
import JSONText
import Synchronization
import SyntheticData
import TestSupport
import Testing

@testable import LoadTest

/// The requests of a load, as a real service takes them.
@Suite struct RequestTests {
    /// All but the one that needs a watch.
    private static let kinds = RequestKind.allCases.filter { $0 != .follow }

    private static let everyKind = kinds.map { "\($0.rawValue)=1" }
        .joined(separator: ",")

    private static func control(_ service: TestService) -> Control {
        { body in try await body { try await service.connection.call($0, $1) } }
    }

    @Test func `Every kind is accepted, wherever on earth`() async throws {
        try await TestService.with { service in
            let positions = [
                MicroPoint(latitude: 85, longitude: 180),
                MicroPoint(latitude: -85, longitude: -180),
                MicroPoint(latitude: 0, longitude: 179.9999),
                MicroPoint(latitude: 52, longitude: 13),
            ]
            for number in positions.indices {
                try await service.call(
                    "object.put", #"{"bucket":"b1","id":"o\#(number)","object":{}}"#)
            }
            var population = Population()
            population.objects = positions.enumerated().map {
                Population.Member(id: Array("o\($0)".utf8), position: $1)
            }
            var settings = RequestSettings(bucket: "b1", mix: try Mix(Self.everyKind))
            settings.radiusMeters = 100_000
            settings.moveMeters = 50_000
            var maker = RequestMaker(settings, population, centers: [])
            for _ in 0..<50 {
                for kind in Self.kinds {
                    maker.write(kind)
                    let line = String(decoding: maker.line.bytes, as: UTF8.self)
                    #expect(line.hasSuffix("}\n"))
                    let answer = try JSONValue(
                        parsing: try await service.line(String(line.dropLast())))
                    #expect(answer["result"] != nil, "\(line) \(answer)")
                }
            }
        }
    }

    @Test func `Moves add up: an object goes on from where it went`() async throws {
        try await TestService.with { service in
            try await service.call("object.put", #"{"bucket":"b1","id":"o0","object":{}}"#)
            var population = Population()
            let start = MicroPoint(latitude: 52, longitude: 13)
            population.objects = [.init(id: Array("o0".utf8), position: start)]
            var settings = RequestSettings(bucket: "b1", mix: try Mix("move"))
            settings.moveMeters = 100
            var maker = RequestMaker(settings, population, centers: [])
            var position = start
            for _ in 0..<20 {
                maker.write(.move)
                _ = try await service.line(
                    String(decoding: maker.line.bytes.dropLast(), as: UTF8.self))
                let object = try await service.call("object.get", #"{"bucket":"b1","id":"o0"}"#)
                let next = MicroPoint(
                    latitude: object["location"]!["lat"]!.double!,
                    longitude: object["location"]!["lon"]!.double!)
                let meters = Sphere.meters(position.coordinate, next.coordinate)
                #expect(abs(meters - 100) < 1)
                position = next
            }
        }
    }

    @Test func `The same seed makes the same requests, another seed others`() throws {
        func lines(_ seed: UInt64) throws -> [[UInt8]] {
            var population = Population()
            population.objects = (0..<100).map {
                .init(
                    id: Array("o\($0)".utf8),
                    position: MicroPoint(latitude: Double($0) / 2, longitude: 1))
            }
            var settings = RequestSettings(bucket: "b1", mix: try Mix(Self.everyKind))
            settings.seed = seed
            var maker = RequestMaker(settings, population, centers: [])
            return (0..<200).map { _ in
                maker.write(maker.pickKind())
                return maker.line.bytes
            }
        }
        #expect(try lines(1) == lines(1))
        #expect(try lines(1) != lines(2))
    }

    @Test func `Requests go to the centres that are given`() throws {
        let centers = try Centers.parse(
            Array("# cities\n\n 48.85 , 2.35 ,Paris\r\n48.86,2.34".utf8))
        #expect(centers.count == 2)
        var population = Population()
        population.objects = [
            .init(id: Array("o0".utf8), position: MicroPoint(latitude: -30, longitude: 100))
        ]
        var maker = RequestMaker(
            RequestSettings(bucket: "b1", mix: try Mix("nearest")), population, centers: centers)
        for _ in 0..<100 {
            maker.write(.nearest)
            let request = try JSONValue(parsing: maker.line.bytes)
            let clause = request["params"]!["bucketQuery"]!["clause"]!
            #expect(abs(clause["center"]!["lat"]!.double! - 48.85) < 0.1)
            #expect(abs(clause["center"]!["lon"]!.double! - 2.35) < 0.1)
        }
    }

    @Test(arguments: [
        ("1,2\nx,3", "line 2"), ("91,0", "line 1"), ("1", "line 1"), ("", "no place"),
        ("1,2\n\n3,", "line 3"), ("35,,139", "line 1"), (",35,139", "line 1"), (",", "line 1"),
        ("0,180.1", "line 1"), ("nan,0", "line 1"), ("# 1,2\n \n", "no place"),
    ])
    func `A file of centres that is wrong is refused with the place`(_ text: String, _ part: String)
    {
        do {
            _ = try Centers.parse(Array(text.utf8))
            Issue.record("\(text) was accepted")
        } catch {
            #expect(error.description.contains(part))
        }
    }

    @Test func `A bucket is prepared with the same objects for the same seed and drawn from`()
        async throws
    {
        try await TestService.with { service in
            let call: Call = { try await service.connection.call($0, $1) }
            try await Population.prepare(2_500, in: "b1", seed: 7, progress: { _ in }, call)
            try await Population.prepare(2_500, in: "b1", seed: 7, progress: { _ in }, call)
            let population = try await Population.drawn(
                from: "b1", field: "location", seed: 1, call)
            #expect(population.total == 2_500 && population.objects.count == 2_500)
            let dataset = Dataset.clustered(objects: 2_500, seed: 7)
            let expected = Dictionary(
                uniqueKeysWithValues: (0..<2_500).map {
                    (Array(Dataset.id($0).utf8), dataset.positions[$0])
                })
            for member in population.objects { #expect(expected[member.id] == member.position) }
        }
    }

    @Test func `Of a larger bucket each object is drawn as likely as any other`() async throws {
        let (pieces, calls) = (30, CallCounter())
        let population = try await Population.drawn(from: "b1", field: "a.location", seed: 5) {
            _, params in
            // Each call is the next thousand; the ids tell how often each piece was drawn from.
            let piece = calls.next()
            #expect(String(decoding: params, as: UTF8.self).contains("continue") == (piece > 0))
            let objects = (0..<1_000).map {
                #"{"_id":"p\#(piece)-\#($0)","a":{"location":{"_type":"point","lat":1,"lon":2}}}"#
            }
            return Array(
                #"{"objects":[\#(objects.joined(separator: ","))],"more":\#(piece + 1 < pieces)}"#
                    .utf8)
        }
        #expect(population.total == 30_000 && population.objects.count == Population.most)
        var counts: [Substring: Int] = [:]
        for member in population.objects {
            let text = String(decoding: member.id, as: UTF8.self)
            counts[text.split(separator: "-")[0], default: 0] += 1
        }
        // A third of each thousand, give or take; the seed is always the same.
        for piece in 0..<pieces { #expect(abs(counts["p\(piece)"]! - 333) < 75, "piece \(piece)") }
    }

    @Test func `A bucket without objects, or without that field, is refused`() async throws {
        try await TestService.with { service in
            let call: Call = { try await service.connection.call($0, $1) }
            try await service.call("object.put", #"{"bucket":"b1","id":"o0","object":{"n":1}}"#)
            await #expect(throws: LoadFailure.self) {
                try await Population.drawn(from: "b1", field: "location", seed: 1, call)
            }
        }
    }

    @Test func `A short test of every kind against a real service has no failures`() async throws {
        try await TestService.with { service in
            let call: Call = { try await service.connection.call($0, $1) }
            try await Population.prepare(3_000, in: "b1", seed: 1, progress: { _ in }, call)
            var settings = LoadSettings(
                plan: .ramp(from: 100, to: 200, step: 100),
                requests: RequestSettings(bucket: "b1", mix: try Mix(Self.everyKind)))
            settings.stageSeconds = 1
            settings.warmUpSeconds = 0.5
            settings.connections = 8
            settings.objective = try Objective("p99=10s")
            let test = LoadDriver(
                Target(host: "127.0.0.1", port: service.port), settings, Self.control(service))
            let report = try await test.run(date: "2026-01-01T00:00:00Z") { _ in }
            #expect(report.stages.map(\.all.requests) == [50, 100, 200])
            #expect(report.stages.map(\.isWarmUp) == [true, false, false])
            #expect(report.stages.allSatisfy { $0.all.failures == 0 }, "\(report.errors)")
            #expect(report.stages.last?.kinds.count == Self.kinds.count)
            #expect(report.highestRateHeld == 200)
            #expect(report.timeline.reduce(0) { $0 + $1.answered } == 350)
            // The service counted them too.
            let samples = report.samples
            let name = "requests.object.patch.count"
            #expect(samples.last!.numbers[name]! > samples.first!.numbers[name]!)
        }
    }
}

/// Numbers calls from 0.
private final class CallCounter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
}
