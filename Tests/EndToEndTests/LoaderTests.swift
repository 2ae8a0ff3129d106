import Interchange
import JSONText
import Objects
import TestSupport
import Testing

@testable import geobucket

/// What is stored of records of which some are at fault, be it that their file cannot be read or
/// that the service refuses them.
@Suite struct LoaderTests {
    private final class Records: RecordSource {
        let recordName = "line"
        let consumedBytes = 0
        let totalBytes: Int? = nil
        private var rest: [Record]

        init(_ records: [Record]) { rest = records.reversed() }

        func next() -> Record? { rest.popLast() }
    }

    private enum Line: Equatable {
        case object(id: Int, value: Int)
        /// Its text is no object.
        case broken
        /// Only the service can tell that it has too many points.
        case refused(id: Int)

        var id: Int? {
            switch self {
            case .object(let id, _), .refused(let id): id
            case .broken: nil
            }
        }

        var result: Result<[UInt8], RecordError> {
            switch self {
            case .object(let id, let value):
                .success(Array(#"{"_id":"id-\#(id)","n":\#(value)}"#.utf8))
            case .broken: .failure(RecordError("broken"))
            case .refused(let id):
                .success(
                    Array(#"{"_id":"id-\#(id)","p":[\#(point(1, 2)),\#(point(3, 4))]}"#.utf8))
            }
        }
    }

    /// Loads lines into an empty bucket, and gives what is stored then.
    private static func load(
        _ lines: [Line], skipsErrors: Bool
    ) async throws -> (summary: Loader.Summary, stored: [String: Int]) {
        var limits = Limits()
        limits.arrayPoints = 1
        return try await TestService.with(limits: limits) { service in
            var known = try await ServerLimits(of: service.connection)
            // Few records make a group, and some groups are of faults alone.
            if skipsErrors { known.lineBytes = 1_024 + 150 }
            var loader = Loader(
                connection: service.connection, bucket: "b1", limits: known,
                skipsErrors: skipsErrors)
            await loader.load(
                Records(
                    zip(1..., lines).map { Record(number: $0, result: $1.result, idHash: $1.id) }))
            var stored: [String: Int] = [:]
            let export = try await service.call("bucket.export", #"{"bucket":"b1"}"#)
            for object in export["objects"]?.array ?? [] {
                stored[object["_id"]?.string ?? ""] = object["n"]?.int
            }
            return (loader.summary, stored)
        }
    }

    @Test func `With skip the last record of an id wins, also if one before it is sent again`()
        async throws
    {
        let lines: [Line] = [.object(id: 1, value: 1), .refused(id: 2), .object(id: 1, value: 2)]
        let (_, stored) = try await Self.load(lines, skipsErrors: true)
        #expect(stored == ["id-1": 2])
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `With skip each record that is not at fault is stored, whatever its group has besides`(
        _ seed: UInt64
    ) async throws {
        var random = SplitMix64(seed: seed)
        let lines = (0..<400).map { number -> Line in
            random.oneIn(60)
                ? random.pick([.broken, .refused(id: number)]) : .object(id: number, value: number)
        }
        var (expected, count) = ([String: Int](), 0)
        for case .object(let id, let value) in lines {
            expected["id-\(id)"] = value
            count += 1
        }
        let (summary, stored) = try await Self.load(lines, skipsErrors: true)
        #expect(stored == expected, "seed \(seed)")
        #expect(summary.objects == count && summary.errors == 400 - count, "seed \(seed)")
        #expect(summary.stoppedBy == nil, "seed \(seed)")
    }

    @Test func `With skip a group of nothing but faults costs nothing else`() async throws {
        let lines: [Line] = [.refused(id: 1), .refused(id: 2), .object(id: 1, value: 7), .broken]
        let (summary, stored) = try await Self.load(lines, skipsErrors: true)
        #expect(stored == ["id-1": 7] && summary.objects == 1 && summary.errors == 3)
        let (_, nothing) = try await Self.load(
            [.refused(id: 1), .refused(id: 2)], skipsErrors: true)
        #expect(nothing.isEmpty)
    }

    @Test func `With stop what stands before a broken record is stored, and nothing behind it`()
        async throws
    {
        let lines: [Line] = [
            .object(id: 1, value: 1), .object(id: 2, value: 2), .broken, .object(id: 3, value: 3),
        ]
        let (summary, stored) = try await Self.load(lines, skipsErrors: false)
        #expect(stored == ["id-1": 1, "id-2": 2] && summary.objects == 2 && summary.errors == 1)
        #expect(summary.stoppedBy == "line 3: broken")
    }

    @Test func `With stop a record that the service refuses is named, and its group not stored`()
        async throws
    {
        // The id that comes again ends the first group.
        let lines: [Line] = [
            .object(id: 1, value: 1), .object(id: 1, value: 2), .object(id: 2, value: 2),
            .refused(id: 3), .object(id: 4, value: 4),
        ]
        let (summary, stored) = try await Self.load(lines, skipsErrors: false)
        #expect(stored == ["id-1": 1] && summary.objects == 1 && summary.errors == 1)
        #expect(summary.stoppedBy?.hasPrefix("line 4: ") == true, "\(summary.stoppedBy ?? "")")
        #expect(summary.stoppedBy?.contains("objects[2].p") == true, "\(summary.stoppedBy ?? "")")
    }

    @Test func `The last line of output has the count, the time, the rate and the errors`() {
        var summary = Loader.Summary()
        (summary.objects, summary.errors, summary.seconds) = (3_000, 2, 1.5049)
        #expect(summary.line == "loaded 3000 objects in 1.5 s (1993 objects/s), 2 errors")
        summary.seconds = 0
        #expect(summary.line == "loaded 3000 objects in 0.0 s (3000 objects/s), 2 errors")
    }
}
