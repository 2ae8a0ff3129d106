import Geodesy
import Glibc
import TestSupport
import Testing

@Suite struct SphereTests {
    @Test func `every vector is met within a hundred-millionth of a metre`() {
        for (from, to, meters, micrometers) in SphereVectors.all {
            let a = Coordinate(latitude: from.latitude, longitude: from.longitude)
            let b = Coordinate(latitude: to.latitude, longitude: to.longitude)
            let error = abs(Sphere.meters(a, b) - meters)
            #expect(error <= 1e-8, "\(a) to \(b): off by \(error) m")
            #expect(Sphere.distance(a, b).micrometers == micrometers, "\(a) to \(b)")
        }
    }

    @Test func `distance is symmetric and an origin gives the same bits`() {
        for (from, to, _, _) in SphereVectors.all {
            let a = Coordinate(latitude: from.latitude, longitude: from.longitude)
            let b = Coordinate(latitude: to.latitude, longitude: to.longitude)
            #expect(Sphere.meters(a, b) == Sphere.meters(b, a))
            #expect(Sphere.Origin(a).meters(to: b) == Sphere.meters(a, b))
        }
    }

    @Test func `the published vectors round to the same micrometre`() {
        let center = Coordinate(latitude: 35.677379, longitude: 139.702148)
        let near = Coordinate(latitude: 35.672568, longitude: 139.723606)
        let far = Coordinate(latitude: 35.667983, longitude: 139.739356)
        #expect(Sphere.distance(center, far) == .meters(3519.661460663769))
        #expect(Sphere.distance(center, near) == .meters(2010.7256561596193))
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `sines are those of the C library to two units of the last place`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<10_000 {
            let angle = Double.random(in: -2...2, using: &random)
            for angle in [angle, angle * 1e-6, angle * 1e-150, .pi / 4 + angle * 1e-9] {
                let exact = sin(angle)
                #expect(abs(Sphere.sine(angle) - exact) <= 2 * exact.ulp, "\(angle) seed \(seed)")
            }
        }
        #expect(Sphere.sine(0) == 0)
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `eight distances at once are the eight one by one`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (measured, refused) = (0, 0)
        for _ in 0..<3_000 {
            let spread = [0, 1e-7, 0.01, 1, 5, 12].randomElement(using: &random)!
            let center = Coordinate(
                latitude: [0, 44.99, -45, 89.9, -90, 60].randomElement(using: &random)!,
                longitude: [180, -180, 0, 179.999, 12.5].randomElement(using: &random)!)
            var (latitudes, longitudes) = (SIMD8<Double>(), SIMD8<Double>())
            for lane in 0..<8 {
                let (north, east) = (
                    Double.random(in: -1...1, using: &random),
                    Double.random(in: -1...1, using: &random)
                )
                latitudes[lane] = min(90, max(-90, center.latitude + spread * north))
                let longitude = center.longitude + spread * east
                longitudes[lane] =
                    longitude > 180
                    ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
            }
            let origin = Sphere.Origin(center)
            guard let meters = origin.meters(toLatitudes: latitudes, longitudes: longitudes)
            else {
                refused += 1
                continue
            }
            measured += 1
            for lane in 0..<8 {
                let position = Coordinate(latitude: latitudes[lane], longitude: longitudes[lane])
                #expect(
                    meters[lane].bitPattern == origin.meters(to: position).bitPattern,
                    "\(center) to \(position), seed \(seed)")
            }
        }
        #expect(measured > 1_500 && refused > 100, "seed \(seed)")
    }

    @Test func `a length is rounded to the nearest micrometre, halves away from zero`() {
        var random = SplitMix64(seed: 3)
        let halves = [0, 0.5, 1.5, 2.5, 0x1p51 + 0.5, 0x1p52 - 0.5, 0x1p52 + 1, 0x1p53 - 1]
        let lengths = (0..<1_000).map { _ in Double.random(in: 0...2.1e13, using: &random) }
        for micrometers in halves + lengths {
            for value in [micrometers.nextDown, micrometers, micrometers.nextUp, -micrometers] {
                let meters = value / 1e6
                #expect(
                    Distance.meters(meters).micrometers == Int64((meters * 1e6).rounded()),
                    "\(meters) m")
            }
        }
    }

    @Test func `both spellings of the antimeridian are the same place`() {
        let east = Coordinate(latitude: 12, longitude: 180)
        let west = Coordinate(latitude: 12, longitude: -180)
        let other = Coordinate(latitude: -7.25, longitude: 31.5)
        #expect(Sphere.distance(east, west) == .zero)
        #expect(Sphere.distance(east, other) == Sphere.distance(west, other))
    }

    @Test func `a unit vector has length one and points where it should`() {
        let north = Sphere.unitVector(Coordinate(latitude: 90, longitude: 77))
        #expect(north == SIMD3(0, 0, 1))
        let east = Sphere.unitVector(Coordinate(latitude: 0, longitude: 90))
        #expect(abs(east.x) < 1e-15 && abs(east.y - 1) < 1e-15 && east.z == 0)
    }
}
