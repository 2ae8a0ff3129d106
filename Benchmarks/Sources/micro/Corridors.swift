import Geodesy
import Glibc
import PersistentStructures
import SpatialIndex
import SyntheticData
import Workloads

/// Long routes: corridors of 10,000 positions beside circles of as many hits, on the bare index.
///
/// Both are asked in turn in one process, for clustered and for uniform places, positions 100 m to
/// 20 km apart, and the widths that hold some hundred to some 100,000 places.
func measureCorridors() {
    print("\n# Corridors of 10,000 positions beside circles of as many hits\n")
    print(
        "Bare index of 1,000,000 places, in process; microseconds of processor time, medians of 9")
    print(
        "rounds, both in turn. *prepare* makes the line, once a query; *times* is what the corridor"
    )
    print("takes by what the circle takes: count, distances, and places along the line instead.\n")
    print(
        "| places | apart | width | hits | circle: count | distances | prepare | count | distances",
        "")
    print("| along | times |\n|", Array(repeating: "---:", count: 11).joined(separator: " | "), "|")
    for (name, places) in [("clustered", dataset.positions), ("uniform", uniformPlaces())] {
        let coordinates = places.map(\.coordinate)
        let index = PointIndex(
            bulk: zip(0..., coordinates).map { (slot: Slot($0), coordinate: $1) })
        for metersApart in [100.0, 2_000, 20_000] {
            measureCorridors(name, coordinates, index, metersApart: metersApart)
        }
    }
}

private func measureCorridors(
    _ name: String, _ places: [Coordinate], _ index: PointIndex, metersApart: Double
) {
    var random = SplitMix64(seed: 7)
    let positions = route(
        from: places[random.below(places.count)], metersApart: metersApart, &random)
    func makeLine() -> GeoLine {
        do { return try GeoLine(positions) } catch { preconditionFailure("antipodes") }
    }
    let line = makeLine()
    let prepare = median { times { precondition(makeLine().positions.count == positions.count) } }
    for wanted in [500, 5_000, 50_000, 200_000] {
        let width = bisect(upTo: GeoCorridor.maximumWidthMeters, wanted) {
            index.count(in: .corridor(GeoCorridor(line, widthMeters: $0)))
        }
        let corridor = GeoCorridor(line, widthMeters: width)
        let hits = index.count(in: .corridor(corridor))
        guard hits >= wanted, hits < 2 * wanted else { continue }
        let circles = (0..<8).map { _ in
            let center = places[random.below(places.count)]
            return GeoCircle(
                center,
                radiusMeters: bisect(upTo: 20_000_000, hits) {
                    index.count(in: .circle(GeoCircle(center, radiusMeters: $0)))
                })
        }
        var samples: [[Double]] = Array(repeating: [], count: 5)
        for _ in 0..<9 {
            samples[0].append(mean(circles) { _ = index.count(in: .circle($0)) })
            samples[1].append(mean(circles) { sum(index, .circle($0), $0.distance) })
            samples[2].append(times { _ = index.count(in: .corridor(corridor)) })
            samples[3].append(times { sum(index, .corridor(corridor), corridor.distance) })
            samples[4].append(times { sum(index, .corridor(corridor), corridor.along) })
        }
        let figures = samples.map { $0.sorted()[4] }
        func micros(_ nanoseconds: Double) -> String { "\((nanoseconds / 100).rounded() / 10)" }
        func ratio(_ a: Int, _ b: Int) -> String { "\(Int((figures[a] / figures[b]).rounded()))" }
        print(
            "| \(name) | \(Int(metersApart)) m | \(Int(width)) m | \(hits) |",
            micros(figures[0]), "|", micros(figures[1]), "|", micros(prepare), "|",
            micros(figures[2]), "|", micros(figures[3]), "|", micros(figures[4]), "|",
            "\(ratio(2, 0)), \(ratio(3, 1)), \(ratio(4, 1)) |")
    }
}

/// Anywhere from 60 degrees south to 75 north.
private func uniformPlaces() -> [MicroPoint] {
    var random = SplitMix64(seed: 1)
    return (0..<1_000_000).map { _ in
        MicroPoint(latitude: random.number(-60...75), longitude: random.number(-180...180))
    }
}

/// 10,000 positions that wind over the earth, not near the poles.
private func route(
    from start: Coordinate, metersApart: Double, _ random: inout SplitMix64
) -> [Coordinate] {
    let metersPerDegree = Sphere.radiusMeters * .pi / 180
    var heading = random.number(0...(2 * .pi))
    var (latitude, longitude) = (start.latitude, start.longitude)
    return (0..<10_000).map { _ in
        let position = MicroPoint(latitude: latitude, longitude: longitude).coordinate
        heading += 0.15 * random.gaussian()
        latitude += cos(heading) * metersApart / metersPerDegree
        longitude +=
            sin(heading) * metersApart / metersPerDegree
            / max(0.1, cos(latitude * .pi / 180))
        if abs(longitude) > 180 { longitude -= longitude > 0 ? 360 : -360 }
        if latitude > 72 || latitude < -58 {
            heading = .pi - heading
            latitude = min(72, max(-58, latitude))
        }
        return position
    }
}

/// The least extent that holds so many, about; the greatest if none does.
private func bisect(upTo greatest: Double, _ wanted: Int, _ count: (Double) -> Int) -> Double {
    var (low, high) = (1.0, greatest)
    while high / low > 1.0005 {
        let middle = (low * high).squareRoot()
        if count(middle) < wanted { low = middle } else { high = middle }
    }
    return high
}

private func sum(_ index: PointIndex, _ shape: GeoShape, _ measure: GeoMeasure) {
    var sum = 0.0
    index.visit(in: shape, by: measure) {
        for point in $0 { sum += point.distance.meters }
        return true
    }
    precondition(sum.isFinite)
}

private func mean(_ circles: [GeoCircle], _ body: (GeoCircle) -> Void) -> Double {
    times { for circle in circles { body(circle) } } / Double(circles.count)
}

private func median(_ body: () -> Double) -> Double { (0..<9).map { _ in body() }.sorted()[4] }

/// Nanoseconds of processor time.
private func times(_ body: () -> Void) -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
    let start = now()
    body()
    return now() - start
}
