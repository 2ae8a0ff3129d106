import Testing

@testable import geobucket

/// What a load says of its progress on a terminal.
@Suite struct ProgressLineTests {
    @Test func `The remaining time is told where the size of the source is known`() {
        for (objects, bytes, total, seconds, text) in [
            (1_200, 60, 100, 3.0, "1200 objects (400 a second), 60 %, 2 s left"),
            (0, 0, 100, 0.0, "0 objects, 0 %, 0 s left"),
            (10, 100, 100, 2.0, "10 objects (5 a second), 100 %, 0 s left"),
            (10, 110, 100, 2.0, "10 objects (5 a second), 100 %, 0 s left"),
            (100, 1, 200, 1.0, "100 objects (100 a second), 0 %, 3 min 19 s left"),
            (100, 1, 10_000, 1.0, "100 objects (100 a second), 0 %, 2 h 46 min left"),
            (1_200, 60, nil, 3.0, "1200 objects (400 a second)"),
            (1_200, 60, 0, 3.0, "1200 objects (400 a second)"),
        ] as [(Int, Int, Int?, Double, String)] {
            #expect(ProgressLine.text(objects, bytes, of: total, seconds: seconds) == text)
        }
    }
}
