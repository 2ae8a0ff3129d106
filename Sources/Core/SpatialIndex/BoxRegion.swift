import Geodesy

/// The points in a rectangle of degrees.
struct BoxRegion: MeasurableRegion {
    private let box: GeoBox
    private let first: ClosedRange<Double>
    private let second: ClosedRange<Double>
    /// The edges moved outward, for "touches".
    private let window: DegreeWindow
    // The edges moved inward to the next `Float`, for "contains".
    private let innerSouth, innerNorth: Float
    private let innerFirst, innerSecond: (west: Float, east: Float)

    init(_ box: GeoBox) {
        self.box = box
        let ranges = box.longitudeRanges
        first = ranges.0
        // A box with a single range stores it twice.
        second = ranges.1 ?? ranges.0
        window = DegreeWindow(box)
        innerSouth = .roundedUp(box.south)
        innerNorth = .roundedDown(box.north)
        innerFirst = (.roundedUp(first.lowerBound), .roundedDown(first.upperBound))
        innerSecond = (.roundedUp(second.lowerBound), .roundedDown(second.upperBound))
    }

    @inline(__always)
    func nodes(_ group: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes {
        typealias Group = TierLayout.Group
        let south = group.floats(Group.south)
        let north = group.floats(Group.north)
        let west = group.floats(Group.west)
        let east = group.floats(Group.east)
        let withinFirst = (west .>= innerFirst.west) .& (east .<= innerFirst.east)
        let withinSecond = (west .>= innerSecond.west) .& (east .<= innerSecond.east)
        let inside =
            (south .>= innerSouth) .& (north .<= innerNorth) .& (withinFirst .| withinSecond)
        return Lanes(touched: window.touches(group + Group.south), inside: inside.bits)
    }

    @inline(__always)
    func points(_ leaf: UnsafeMutableRawPointer, _ place: TreePlace) -> Lanes {
        let low = eight(Leaf(base: leaf), from: 0)
        let high = eight(Leaf(base: leaf), from: 8)
        let lanes = low | high << 8
        return Lanes(touched: lanes, inside: lanes)
    }

    @inline(__always)
    private func eight(_ leaf: Leaf, from lane: Int) -> UInt16 {
        let latitude = leaf.latitudes(from: lane)
        let longitude = leaf.longitudes(from: lane)
        let inFirst = (longitude .>= first.lowerBound) .& (longitude .<= first.upperBound)
        let inSecond = (longitude .>= second.lowerBound) .& (longitude .<= second.upperBound)
        let inLatitude = (latitude .>= box.south) .& (latitude .<= box.north)
        return (inLatitude .& (inFirst .| inSecond)).bits
    }

    func contains(_ position: Coordinate) -> Bool {
        position.latitude >= box.south && position.latitude <= box.north
            && (first.contains(position.longitude) || second.contains(position.longitude))
    }

    @inline(__always)
    func classify(_ entry: Entry) -> Lanes {
        let lanes: UInt16 =
            contains(entry.coordinate) ? 1 : 0
        return Lanes(touched: lanes, inside: lanes)
    }

    @inline(__always)
    func shares(_ group: UnsafeMutableRawPointer, _ place: TreePlace) -> SIMD16<Float> {
        typealias Group = TierLayout.Group
        func overlap(
            _ low: SIMD16<Float>, _ high: SIMD16<Float>, _ from: Float, _ to: Float
        ) -> SIMD16<Float> {
            let first = low.replacing(with: from, where: low .< from)
            let last = high.replacing(with: to, where: high .> to)
            return share(last - first, of: high - low)
        }
        let byLatitude = overlap(
            group.floats(Group.south), group.floats(Group.north), window.south, window.north)
        let (west, east) = (group.floats(Group.west), group.floats(Group.east))
        let byFirst = overlap(west, east, window.first.west, window.first.east)
        if first == second { return byLatitude * byFirst }
        return byLatitude * (byFirst + overlap(west, east, window.second.west, window.second.east))
    }
}
