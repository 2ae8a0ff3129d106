import BackendContract
import Geodesy
import JSONText
import Objects
import TestSupport
import Testing

@testable import LiveQueries

/// The couples of a watch that begins are found beside the matcher's thread, while writes go on.
@Suite struct CoupleSearchTests {
    private static let (couriers, riders) = (
        BucketName(trusted: "couriers"), BucketName(trusted: "riders")
    )

    /// Objects move, come, go and expire, and the circle follows one of them.
    @Test(arguments: Seeds.first(12))
    func `couples brought up to a later moment are those that all distances say`(
        seed: UInt64
    ) async throws {
        try await WatchWorld.with(seed: seed) { world in
            let other = seed % 3 == 0 ? Self.couriers : Self.riders
            let center =
                seed % 2 == 0 ? Self.point(0, 0) : Meridian.follower(of: "id.0", in: "riders")
            let request = try WatchClient.request(
                Self.couriers,
                #"{"bucketQuery":{"clause":\#(Meridian.circle(center, 700))},"pairs":{"#
                    + #""bucket":"\#(other.text)","field":"location","radius":250,"#
                    + #""clause":{"type":"eq","field":"on","value":true}}}"#, Limits())
            for _ in 0..<40 { try Self.change(world) }
            let matcher = world.hub.matcher
            func present() throws -> Moment {
                try matcher.thread.sync { () throws(ServiceFailure) in try matcher.present() }
            }
            let first = try present()
            let draft = WatchGroup(WatchTopic(request, of: 1), number: 0)
            _ = draft.follow(first)
            let search = try CoupleSearch(
                draft, at: first, Limits(), restorations: 0, until: nil)
            var last = seed % 2 == 0 ? Coordinate(latitude: 0, longitude: 0) : nil
            var moment = first
            for round in 0..<12 {
                if let position = Self.position(of: "id.0", moment), seed % 2 == 1 {
                    last = position
                }
                let found = Set(try search.couples(at: moment).all)
                let expected = Self.couples(around: last, other, moment)
                #expect(found == expected, "seed \(seed), round \(round)")
                for _ in 0..<world.random.below(8) { try Self.change(world) }
                moment = try present()
            }
        }
    }

    @Test func `a search ends when it is told to`() async throws {
        try await WatchWorld.with { world in
            try world.put("c1", Meridian.object(0))
            let request = try WatchClient.request(
                world.name,
                #"{"bucketQuery":{"clause":\#(Meridian.circle(Meridian.origin, 100))},"pairs":"#
                    + #"{"bucket":"riders","field":"location","radius":50}}"#, Limits())
            let (client, stop) = (WatchClient(world.hub), StopSignal())
            stop.stop()
            let failure = #expect(throws: ServiceFailure.self) {
                try client.session.start(request, until: stop)
            }
            #expect(failure?.reason == .temporarilyUnavailable)
            #expect(world.hub.statistics().watches == 0)
        }
    }

    // MARK: The oracle

    private static func couples(
        around center: Coordinate?, _ other: BucketName, _ moment: Moment
    ) -> Set<WatchSubject> {
        guard let center else { return [] }
        var found: Set<WatchSubject> = []
        for one in objects(couriers, moment) {
            guard let place = one.place, isNear(center, place, 700) else { continue }
            for partner in objects(other, moment) where partner.isOn {
                guard let there = partner.place, one.creation != partner.creation,
                    isNear(place, there, 250)
                else { continue }
                let isSwapped = other == couriers && partner.creation < one.creation
                found.insert(
                    isSwapped
                        ? WatchSubject(first: partner.creation, second: one.creation)
                        : WatchSubject(first: one.creation, second: partner.creation))
            }
        }
        return found
    }

    private static func isNear(_ a: Coordinate, _ b: Coordinate, _ radius: Double) -> Bool {
        Sphere.distance(a, b).isWithin(radiusMeters: radius)
    }

    private static func position(of id: String, _ moment: Moment) -> Coordinate? {
        objects(riders, moment).first { $0.id == id }?.place
    }

    private struct Seen {
        let id: String
        let creation: ChangeNumber
        let place: Coordinate?
        let isOn: Bool
    }

    /// What is there, by the documents alone.
    private static func objects(_ bucket: BucketName, _ moment: Moment) -> [Seen] {
        (moment.bucket(bucket)?.objects(changedAfter: 0, atMost: .max) ?? []).map { object in
            let document = try! JSONValue(parsing: try! object.document())
            let place = document["location"].map {
                Coordinate(
                    latitude: $0["lat"]!.number!.double, longitude: $0["lon"]!.number!.double)
            }
            return Seen(
                id: document["_id"]!.string!, creation: object.creation, place: place,
                isOn: document["on"]?.bool == true)
        }
    }

    // MARK: Changes

    private static func point(_ latitude: Double, _ longitude: Double) -> String {
        #"{"_type":"point","lat":\#(latitude),"lon":\#(longitude)}"#
    }

    private static func change(_ world: WatchWorld) throws {
        let bucket = world.random.pick([couriers, riders])
        let id = "id.\(world.random.below(10))"
        switch world.random.below(20) {
        case 0: _ = try? world.submit(.deleteBucket(bucket))
        case 1..<4: try world.delete(id, in: bucket)
        case 4..<6: world.clock.now += Int64(world.random.below(900))
        default:
            let point = point(
                world.random.number(-0.004...0.004), world.random.number(-0.004...0.004))
            let place = world.random.oneIn(10) ? "" : #","location":\#(point)"#
            let expires =
                world.random.oneIn(5)
                ? world.clock.now + Int64(1 + world.random.below(2_000)) : nil
            try world.put(
                id, #"{"on":\#(!world.random.oneIn(4))\#(place)}"#, expires: expires, in: bucket)
        }
    }
}
