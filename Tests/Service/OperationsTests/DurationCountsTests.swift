import JSONText
import Objects
import Testing

@testable import ServiceDesk

/// How long requests took, and about which buckets they were.
@Suite struct DurationCountsTests {
    @Test func `A step ends where the next begins, and is at most half as long as its begin`() {
        for microseconds in Int64(1)...5_000 {
            let step = DurationCounts.step(of: microseconds)
            #expect(microseconds <= DurationCounts.end(of: step))
            #expect(step == 0 || microseconds > DurationCounts.end(of: step - 1))
        }
        for step in 2..<71 {
            let (begin, end) = (DurationCounts.end(of: step - 1), DurationCounts.end(of: step))
            #expect(end > begin && 2 * (end - begin) <= begin, "\(step)")
        }
        #expect(DurationCounts.step(of: -5) == 0 && DurationCounts.step(of: .max) == 71)
    }

    @Test func `Only steps that occur are written, with the time together`() {
        let counts = DurationCounts()
        for microseconds in [0, 1, 3, 3, 100] as [Int64] {
            counts.count(nanoseconds: microseconds * 1_000)
        }
        var writer = JSONWriter()
        counts.write(to: &writer)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #","microseconds":107,"durations":[[1,2],[3,2],[128,1]]"#)
    }

    private static func busiest(_ buckets: BusyBuckets) -> String {
        var writer = JSONWriter()
        buckets.write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `The buckets whose requests took longest come first, ten of them`() throws {
        let buckets = BusyBuckets()
        for number in 1...12 {
            for _ in 0..<number {
                buckets.count(try BucketName("b\(number)"), nanoseconds: 1_000)
            }
        }
        let text = Self.busiest(buckets)
        #expect(
            text.hasPrefix(#"[{"bucket":"b12","requests":12,"microseconds":12},{"bucket":"b11""#))
        #expect(text.contains("\"b3\"") && !text.contains("\"b2\""))
    }

    @Test func `Of more buckets than are kept, what is asked for most is among them`() throws {
        let buckets = BusyBuckets()
        for round in 0..<20_000 {
            buckets.count(try BucketName("rare\(round % 1_000)"), nanoseconds: 1_000)
            if round % 4 == 0 { buckets.count(try BucketName("hot"), nanoseconds: 1_000) }
        }
        #expect(Self.busiest(buckets).hasPrefix(#"[{"bucket":"hot","requests":"#))
    }

    @Test func `What is told of a bucket is counted for itself, and of a hundred at most`() throws {
        let buckets = BusyBuckets()
        var told: [BucketName: BusyBuckets.Counted] = [:]
        for round in 0..<20_000 {
            buckets.count(try BucketName("b\(round % 150)"), nanoseconds: 2_000)
            let counted = buckets.counted
            #expect(counted.count <= 100)
            guard round % 100 == 0 else { continue }
            for use in counted {
                #expect(use.requests > 0 && use.requests * 2 == use.microseconds)
                #expect(use.requests <= round / 150 + 17, "\(use) after \(round)")
            }
            told = Dictionary(uniqueKeysWithValues: counted.map { ($0.bucket, $0) })
        }
        #expect(told.count == 100)
    }
}
