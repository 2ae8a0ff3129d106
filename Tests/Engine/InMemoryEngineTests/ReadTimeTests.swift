import BackendContract
import Geodesy
import JSONText
import Objects
import QueryLanguage
import TestSupport
import Testing

@testable import InMemoryEngine

/// Reads end when their time is over, however long one step of them takes: here the arcs of a line
/// cross each other everywhere, so each of them may be the nearest to a place.
@Suite(.timeLimit(.minutes(5))) struct ReadTimeTests {
    private static let limit = Duration.milliseconds(5)
    private static let sameplace = BucketName(trusted: "sameplace")

    private static func corridor(widthMeters: Double) throws -> GeoCorridor {
        let line = try GeoLine(
            (0..<10_000).map {
                Coordinate(
                    latitude: (17.3 * Double($0)).truncatingRemainder(dividingBy: 120) - 60,
                    longitude: (35.7 * Double($0)).truncatingRemainder(dividingBy: 360) - 180)
            })
        return GeoCorridor(line, widthMeters: widthMeters)
    }

    private static func engine() throws -> Engine {
        var limits = Limits()
        limits.queryMilliseconds = Int(limit / .milliseconds(1))
        let engine = makeEngine(limits: limits)
        var random = SplitMix64(seed: 1)
        try engine.load(objects: 20_000, buckets: [shops], &random)
        let here = position(&random)
        engine.apply(
            (1...2_000).map {
                let change = ChangeNumber(20_000 + $0)
                return upsert(
                    sameplace, uuid(Int(change)), creation: change, change: change, at: here)
            }, upTo: 22_000)
        return engine
    }

    /// Pages that measure to the line to find objects, to filter and to order them.
    private static func pages() throws -> [Query] {
        let wide = try corridor(widthMeters: 1_000_000)
        let narrow = try corridor(widthMeters: 1_000)
        let center = GeoCircle(Coordinate(latitude: 0, longitude: 0))
        func along(_ corridor: GeoCorridor) -> Clause {
            let report = ReportedDistance("a", of: location, by: corridor.along)
            return .geo(GeoClause(location, .corridor(corridor), reports: [report]))
        }
        let byAlong = OrderKey(.distance(name: "a"))
        let near = ReportedDistance("a", of: location, by: center.distance)
        let everywhere = Clause.geo(GeoClause(location, .circle(center), reports: [near]))
        let outside = Clause.not(.geo(GeoClause(location, .corridor(narrow))))
        return [
            Query(clause: along(wide), order: [byAlong], fields: []),
            Query(clause: along(wide), fields: []),
            Query(clause: along(narrow), order: [byAlong], fields: []),
            Query(clause: outside, fields: []),
            Query(clause: .and([everywhere, outside]), order: [byAlong], fields: []),
        ]
    }

    @Test func `reads about a long line end in time`() throws {
        let engine = try Self.engine()
        let pages = try Self.pages()
        // Only the second distance tells objects at one place apart.
        let center = GeoCircle(Coordinate(latitude: 0, longitude: 0))
        let far = ReportedDistance("d", of: location, by: center.distance)
        let circle = Clause.geo(GeoClause(location, .circle(center), reports: [far]))
        let byBoth = ["d", "a"].map { OrderKey(.distance(name: $0)) }
        let ties = Query(clause: .and([circle, pages[0].clause]), order: byBoth, fields: [])
        let requests =
            pages.map { ReadRequest.page($0, in: shops) }
            + pages.map { ReadRequest.count($0.clause, in: shops) }
            + [.page(ties, in: Self.sameplace)]
        for (number, request) in requests.enumerated() {
            let read = try engine.prepare(request)
            let start = ContinuousClock.now
            var writer = JSONWriter()
            let failure = #expect(throws: ServiceFailure.self) {
                try read.run(maximumBytes: .max, until: nil, into: &writer)
            }
            let duration = ContinuousClock.now - start
            #expect(failure?.reason == .queryTimeout, "request \(number)")
            #expect(duration < .seconds(10), "request \(number)")
        }
    }
}
