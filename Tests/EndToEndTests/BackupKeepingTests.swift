import Testing

@testable import geobucket

/// Which of a service's own backups are kept, and how they are named.
@Suite struct BackupKeepingTests {
    private static let hour = 3_600
    private static let day = 24 * hour
    private static let start = BackupTime(milliseconds: 1_795_219_200_000)

    private static func time(_ seconds: Int) -> BackupTime {
        BackupTime(milliseconds: Int64((start.seconds + seconds) * 1_000))
    }

    /// What is left of backups that were made in equal distances, thinned each time.
    private static func left(of count: Int, every step: Int, keep: String) throws -> [Int] {
        let keeping = try #require(BackupKeeping(keep))
        var times: [BackupTime] = []
        for number in 0..<count {
            let now = time(number * step)
            times.append(now)
            let outdated = keeping.outdated(times, at: now)
            #expect(outdated.allSatisfy(times.contains) && !outdated.contains(now))
            times.removeAll(where: outdated.contains)
        }
        return times.map { time in ((count - 1) * step - time.seconds + start.seconds) }
    }

    @Test func `One an hour for a day and one a day for a week are kept`() throws {
        let ages = try Self.left(of: 4 * 24 * 30, every: Self.hour / 4, keep: "24h:1h,7d:1d")
        let hours = ages.filter { $0 <= Self.day }
        #expect((24...26).contains(hours.count), "\(hours)")
        let gaps = zip(hours, hours.dropFirst()).map { $0 - $1 }
        #expect(gaps.allSatisfy { $0 <= Self.hour }, "\(gaps)")
        let days = ages.filter { $0 > Self.day }
        #expect((6...7).contains(days.count), "\(days)")
        #expect(days.allSatisfy { $0 <= 7 * Self.day })
        #expect(zip(days, days.dropFirst()).allSatisfy { $0 - $1 == Self.day }, "\(days)")
    }

    @Test func `All are kept, if that is said, and the newest in any case`() throws {
        #expect(try Self.left(of: 100, every: Self.day, keep: "all").count == 100)
        #expect(try Self.left(of: 100, every: Self.day, keep: "1m:1s") == [0])
    }

    @Test func `A clock that was set back deletes nothing by that`() throws {
        let keeping = try #require(BackupKeeping("24h:1h"))
        let times = (0..<4).map { Self.time($0 * Self.hour) }
        #expect(keeping.outdated(times, at: Self.time(-Self.day)) == [])
    }

    @Test(arguments: [
        "", "24h", "24h:", "24h:1h,", "1h:24h", "24h:1ms", "x:1h", "24h:1h:1m", "0h:0h",
    ])
    func `What is no rule is refused`(_ text: String) { #expect(BackupKeeping(text) == nil) }

    @Test func `The name of a backup is its time, and other names are none`() {
        #expect(Self.start.text == "20261121T000000Z")
        #expect(BackupTime("20261121T000000Z") == Self.start)
        #expect(BackupTime("19691231T235959Z")?.text == "19691231T235959Z")
        for text in [
            "", "20261121T000000", "20261121T000000z", "20261131T000000Z", "20261121T240000Z",
            "2026-11-21T0000Z", "+0261121T000000Z", "20261121T0000+0Z", "20261121T00000é",
        ] {
            #expect(BackupTime(text[...]) == nil, "\(text)")
        }
    }
}
