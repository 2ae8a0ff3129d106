import Geodesy

/// A rectangle of degrees with its edges moved outward to the next `Float`: one or two ranges of
/// longitudes, as of `GeoBox.longitudeRanges`.
struct DegreeWindow: Sendable {
    let south, north: Float
    /// A box with a single range has it twice.
    let first, second: (west: Float, east: Float)

    init(_ box: GeoBox) {
        let ranges = box.longitudeRanges
        let beyond = ranges.1 ?? ranges.0
        south = .roundedDown(box.south)
        north = .roundedUp(box.north)
        first = (.roundedDown(ranges.0.lowerBound), .roundedUp(ranges.0.upperBound))
        second = (.roundedDown(beyond.lowerBound), .roundedUp(beyond.upperBound))
    }

    /// Which of sixteen rectangles have a point in common with it, one bit for each.
    ///
    /// - Parameter columns: four, of sixteen numbers each: south, west, north, east.
    @inline(__always)
    func touches(_ columns: UnsafeMutableRawPointer) -> UInt16 {
        let (south, west) = (columns.floats(0), columns.floats(64))
        let (north, east) = (columns.floats(128), columns.floats(192))
        let touchesFirst = (west .<= first.east) .& (east .>= first.west)
        let touchesSecond = (west .<= second.east) .& (east .>= second.west)
        return
            ((south .<= self.north) .& (north .>= self.south)
            .& (touchesFirst .| touchesSecond)).bits
    }

    /// Whether a rectangle has a point in common with it.
    func touches(_ box: DegreeBox) -> Bool {
        box.south <= north && box.north >= south
            && ((box.west <= first.east && box.east >= first.west)
                || (box.west <= second.east && box.east >= second.west))
    }
}

extension DegreeWindow {
    /// About how much of a rectangle lies in it, 0 through 1.
    func share(of box: DegreeBox) -> Double {
        func overlap(_ low: Float, _ high: Float, _ from: Float, _ to: Float) -> Double {
            let common = min(high, to) - max(low, from)
            return common < 0 ? 0 : high > low ? Double(common / (high - low)) : 1
        }
        let byLatitude = overlap(box.south, box.north, south, north)
        let byFirst = overlap(box.west, box.east, first.west, first.east)
        let bySecond =
            first == second ? 0 : overlap(box.west, box.east, second.west, second.east)
        return byLatitude * min(1, byFirst + bySecond)
    }
}

/// A rectangle of degrees that does not cross the antimeridian, with its edges moved outward to the
/// next `Float`.
struct DegreeBox: BitwiseCopyable, Sendable, Equatable {
    var south, west, north, east: Float

    /// The empty box: a union with it is the other box.
    static let empty = DegreeBox(
        south: .infinity, west: .infinity, north: -.infinity, east: -.infinity)

    init(south: Float, west: Float, north: Float, east: Float) {
        (self.south, self.west, self.north, self.east) = (south, west, north, east)
    }

    /// A box as one or, if it crosses the antimeridian, two rectangles.
    static func boxes(_ box: GeoBox) -> [DegreeBox] {
        func rectangle(_ west: Double, _ east: Double) -> DegreeBox {
            DegreeBox(
                south: .roundedDown(box.south), west: .roundedDown(west),
                north: .roundedUp(box.north), east: .roundedUp(east))
        }
        return box.crossesAntimeridian
            ? [rectangle(box.west, 180), rectangle(-180, box.east)]
            : [rectangle(box.west, box.east)]
    }

    mutating func formUnion(_ other: DegreeBox) {
        south = min(south, other.south)
        west = min(west, other.west)
        north = max(north, other.north)
        east = max(east, other.east)
    }

    /// Whether `other` is wholly inside this box.
    func contains(_ other: DegreeBox) -> Bool {
        south <= other.south && west <= other.west && north >= other.north && east >= other.east
    }

    /// The middle.
    var latitude: Double { (Double(south) + Double(north)) / 2 }
    var longitude: Double { (Double(west) + Double(east)) / 2 }
}

extension GeoBox {
    /// Inequality: true only if the box and the one that was rounded outward to a rectangle have a point
    /// in common.
    func certainlyMeets(_ rounded: DegreeBox) -> Bool {
        let (south, west) = (Double(rounded.south.nextUp), Double(rounded.west.nextUp))
        let (north, east) = (Double(rounded.north.nextDown), Double(rounded.east.nextDown))
        guard south <= north, west <= east, south <= self.north, north >= self.south else {
            return false
        }
        let ranges = longitudeRanges
        return ranges.0.overlaps(west...east) || ranges.1?.overlaps(west...east) ?? false
    }
}
