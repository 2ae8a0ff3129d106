import Foundation

/// The seeds of tests that generate what they do.
public enum Seeds {
    /// How many times as many seeds as usual are run: what `GEOBUCKET_TEST_SCALE` says, or 1.
    private static let scale =
        ProcessInfo.processInfo.environment["GEOBUCKET_TEST_SCALE"].flatMap { UInt64($0) } ?? 1

    /// The numbers from 1 to a count, times the scale.
    public static func first(_ count: UInt64) -> [UInt64] { Array(1...max(1, count * scale)) }
}
