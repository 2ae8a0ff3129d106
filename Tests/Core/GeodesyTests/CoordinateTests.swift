import Geodesy
import Testing

@Suite struct CoordinateTests {
    @Test func `180 and -180 are one meridian and both zeros one number`() {
        let a = Coordinate(latitude: 0.0, longitude: 180)
        let b = Coordinate(latitude: -0.0, longitude: -180)
        #expect(a == b)
        #expect(Set([a, b]).count == 1)
        #expect(a.longitude == 180 && a.canonicalLongitude == -180)
        #expect(Coordinate(latitude: 0, longitude: 179) != b)
    }

    @Test(arguments: [
        (90.0000001, 0.0), (-90.0000001, 0.0), (0.0, 180.0000001), (0.0, -180.0000001),
        (.nan, 0.0), (0.0, .nan), (.infinity, 0.0), (0.0, -.infinity),
    ])
    func `numbers out of range or not finite make no coordinate`(
        latitude: Double, longitude: Double
    ) {
        #expect(Coordinate(validLatitude: latitude, longitude: longitude) == nil)
    }

    @Test func `the limits themselves are in range`() {
        #expect(Coordinate(validLatitude: 90, longitude: -180) != nil)
        #expect(Coordinate(validLatitude: -90, longitude: 180) != nil)
    }

    @Test func `the antipode is half a circumference away`() {
        for longitude in [-180.0, -179.5, -1, 0, 0.25, 90, 180] {
            let position = Coordinate(latitude: 12.5, longitude: longitude)
            let error = abs(Sphere.meters(position, position.antipode) - .pi * Sphere.radiusMeters)
            #expect(error < 1e-8, "longitude \(longitude)")
        }
    }
}

@Suite struct DistanceTests {
    @Test func `metres round to the nearest micrometre`() {
        #expect(Distance.meters(1.0000004).micrometers == 1_000_000)
        #expect(Distance.meters(1.0000006).micrometers == 1_000_001)
        #expect(Distance.kilometers(1.5) == .meters(1500))
        #expect(Distance.meters(9.2e12).micrometers == 9_200_000_000_000_000_000)
        #expect(Distance.meters(9.3e12) == .longest && Distance.kilometers(2e10) == .longest)
        #expect(Distance.meters(3519.661460663769).meters == 3519.661461)
    }

    @Test func `a distance is within a radius equal to it and not within one just below`() {
        let distance = Distance(micrometers: 3_519_661_461)
        #expect(distance.isWithin(radiusMeters: 3519.661461))
        #expect(!distance.isWithin(radiusMeters: 3519.661461.nextDown))
        #expect(Distance.zero < distance)
    }
}
