import Geodesy
import TestSupport
import Testing

@Suite struct WGS84Tests {
    typealias Degrees = (latitude: Double, longitude: Double)

    /// Shortest geodesics in metres, from the test suite of GeographicLib's C library (geodtest.c,
    /// `testcases`), whose numbers were made in higher precision. Longitudes are brought into
    /// -180...180.
    private static let published: [(Degrees, Degrees, Double)] = [
        ((35.60777, -139.44815), (-11.17491, -69.95921), 8935244.5604818305),
        ((55.52454, 106.05087), (77.03196, -162.81766), 4105086.1713924406),
        ((-21.97856, 142.59065), (41.84138, 98.56635), 8394328.894657671),
        ((-66.99028, 112.2363), (-12.70631, -74.09656), 11150344.2312080241),
        ((-17.42761, 173.34268), (-15.84784, 5.93557), 16076603.1631180673),
        ((32.84994, 48.28919), (-56.28556, -157.70868), 16727068.9438164461),
        ((6.96833, 52.74123), (-7.39675, -153.82709), 17102477.2496958388),
        ((-50.56724, -16.30485), (-33.56571, -94.97412), 6455670.5118668696),
        ((-58.93002, -8.90775), (-8.91104, 133.13503), 11756066.0219864627),
        ((-68.82867, -74.28391), (-50.63005, -8.36685), 3956936.926063544),
        ((-10.62672, -32.0898), (5.883, -134.31681), 11470869.3864563009),
        ((-21.76221, 166.90563), (48.72884, -146.02373), 9098627.3986554915),
        ((-19.79938, -174.47484), (-11.99349, -154.35109), 2319004.8601169389),
        ((-11.95887, -116.94513), (4.57352, 7.16501), 13834722.5801401374),
        ((-87.85331, 85.66836), (66.48646, 16.09921), 17286615.3147144645),
        ((1.74708, 128.32011), (-11.16617, 11.87109), 12942901.1241347408),
        ((-25.72959, -144.90758), (-57.70581, 90.82121), 9413446.7452453107),
        ((-41.22777, 122.32875), (-7.57291, 130.37946), 3812686.035106021),
        ((11.01307, 138.25278), (6.62726, -112.94019), 11911190.819018408),
        ((-29.47124, 95.14681), (-27.46601, -69.15955), 13487015.8381145492),
    ]

    /// Pairs that make other methods fail, from the same file (`GeodSolve6`, `9`, `10`, `11`), to
    /// half a millimetre as published.
    private static let nearlyAntipodal: [(Degrees, Degrees, Double)] = [
        ((88.202499451857, 0), (-88.202499451857, 179.981022032992859592), 20003898.214),
        ((89.262080389218, 0), (-89.262080389218, 179.992207982775375662), 20003925.854),
        ((89.333123580033, 0), (-89.333123580032997687, 179.99295812360148422), 20003926.881),
        ((56.320923501171, 0), (-56.320923501171, 179.664747671772880215), 19993558.287),
        ((52.784459512564, 0), (-52.784459512563990912, 179.634407464943777557), 19991596.095),
        ((48.522876735459, 0), (-48.52287673545898293, 179.599720456223079643), 19989144.774),
        ((36.493349428792, 0), (36.49334942879201, 0.0000008), 0.072),
    ]

    private static func position(_ degrees: Degrees) -> Coordinate {
        Coordinate(latitude: degrees.latitude, longitude: degrees.longitude)
    }

    @Test func `published geodesics are met within a micrometre`() {
        for (from, to, meters) in Self.published {
            let distance = WGS84.distance(Self.position(from), Self.position(to))
            #expect(abs(distance.meters - meters) <= 1e-6, "\(from) to \(to): \(distance)")
        }
        for (from, to, meters) in Self.nearlyAntipodal {
            let distance = WGS84.distance(Self.position(from), Self.position(to))
            #expect(abs(distance.meters - meters) <= 0.0005, "\(from) to \(to): \(distance)")
        }
    }

    /// Half a meridian is 20,003,931.458625 m, the equator 2π * 6,378,137 m.
    @Test func `poles, the equator and the antimeridian`() {
        let (north, south) = (Coordinate(latitude: 90, longitude: 5), (-90.0, -170.0))
        #expect(WGS84.distance(north, Self.position(south)).micrometers == 20_003_931_458_625)
        #expect(WGS84.distance(north, Self.position((0, 77))).micrometers == 10_001_965_729_313)
        #expect(WGS84.distance(north, Self.position((90, -120))) == .zero)
        #expect(
            WGS84.distance(Self.position((0, 0)), Self.position((0, 1)))
                == .meters(111319.490793274))
        #expect(
            WGS84.distance(Self.position((0, 179.5)), Self.position((0, -179.5)))
                == .meters(111319.490793274))
        #expect(WGS84.distance(Self.position((12, 180)), Self.position((12, -180))) == .zero)
        // Antipodes on the equator: the way over a pole is shorter than along it.
        #expect(
            WGS84.distance(Self.position((0, 0)), Self.position((0, 180))).micrometers
                == 20_003_931_458_625)
        #expect(
            WGS84.distance(Self.position((30, 10)), Self.position((-30, -170))).micrometers
                == 20_003_931_458_625)
    }

    /// Places of all kinds: anywhere, close together, near antipodes, on the equator, at poles.
    private static func pair(_ random: inout SplitMix64) -> (Degrees, Degrees) {
        let a = (random.number(-90...90), random.number(-180...180))
        let antipode = (-a.0, a.1 > 0 ? a.1 - 180 : a.1 + 180)
        let near = random.pick([1e-7, 0.001, 0.3])
        func moved(_ position: Degrees) -> Degrees {
            (
                min(90, max(-90, position.latitude + random.number(-near...near))),
                min(180, max(-180, position.longitude + random.number(-near...near)))
            )
        }
        switch random.below(8) {
        case 0: return (a, moved(a))
        case 1: return (a, antipode)
        case 2, 3: return (a, moved(antipode))
        case 4: return ((0, a.1), moved((0, antipode.1)))
        case 5: return ((0, a.1), (0, random.number(-180...180)))
        case 6:
            return (
                a, (random.pick([90, -90, 0, a.0]), random.pick([180, -180, a.1, antipode.1]))
            )
        default: return (a, (random.number(-90...90), random.number(-180...180)))
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `any distance is within a micrometre of one computed otherwise`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<400 {
            let (from, to) = Self.pair(&random)
            let expected = OracleDistance(from: from, to: to, model: "wgs84")
            let (a, b) = (Self.position(from), Self.position(to))
            let context = "seed \(seed), \(from) to \(to)"
            for distance in [WGS84.distance(a, b), WGS84.distance(b, a)] {
                let error = distance.micrometers - expected.micrometers
                #expect(abs(error) <= (expected.isNearRounding ? 1 : 0), "\(context)")
            }
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a circle lies between two circles on the sphere`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<3_000 {
            let (from, to) = Self.pair(&random)
            let (a, b) = (Self.position(from), Self.position(to))
            for model in DistanceModel.allCases {
                let (arc, distance) = (Sphere.distance(a, b), model.distance(a, b))
                let context = "seed \(seed), \(model), \(from) to \(to)"
                for meters in [distance.meters, distance.meters.nextUp] {
                    let outer = model.sphereRadius(containing: meters)
                    #expect(arc.isWithin(radiusMeters: outer), "\(context)")
                    #expect(model.isWithin(radiusMeters: meters, a, b), "\(context)")
                }
                let less = distance.meters - 1e-6
                #expect(!arc.isWithin(radiusMeters: model.sphereRadius(within: less)), "\(context)")
                #expect(!model.isWithin(radiusMeters: less, a, b), "\(context)")
                #expect(DistanceModel.Origin(a, model).distance(to: b) == distance, "\(context)")
            }
        }
    }

    @Test func `the bounds of the ratio are as near as the ellipsoid allows`() {
        // Along the meridian through a pole and along the equator's meridian at the equator.
        let pole = WGS84.distance(Self.position((90, 0)), Self.position((89.9, 0))).meters
        let onSphere = Sphere.distance(Self.position((90, 0)), Self.position((89.9, 0))).meters
        #expect(DistanceModel.wgs84.sphereRadius(within: pole) > onSphere * 0.99999)
        let equator = WGS84.distance(Self.position((0, 0)), Self.position((0.1, 0))).meters
        let arc = Sphere.distance(Self.position((0, 0)), Self.position((0.1, 0))).meters
        #expect(DistanceModel.wgs84.sphereRadius(containing: equator) < arc * 1.00001)
    }
}
