/// The Hilbert curve over a square of cells: neighbours on the curve are neighbours on the map.
///
/// - Reference: Hamilton and Rau-Chaplin, "Compact Hilbert indices", 2007. The two-dimensional
///   curve is a machine of four states that reads one bit of each axis per step.
enum HilbertCurve {
    /// The position of the cell (x, y) along the curve. With `bits` bits per axis, the result has
    /// twice as many.
    static func index(x: UInt32, y: UInt32, bits: Int) -> UInt64 {
        var (state, index, shift) = (0, UInt64(0), UInt32(bits))
        while shift % 4 != 0 {
            shift -= 1
            let step = step(from: state, x: x >> shift, y: y >> shift)
            (state, index) = (step.state, index << 2 | step.position)
        }
        while shift > 0 {
            shift -= 4
            let next = fourSteps[state << 8 | Int(x >> shift & 15) << 4 | Int(y >> shift & 15)]
            (state, index) = (Int(next >> 8), index << 8 | UInt64(next & 255))
        }
        return index
    }

    /// The state after one step, and the position of the quadrant among the four.
    private static func step(
        from state: Int, x: UInt32, y: UInt32
    ) -> (state: Int, position: UInt64) {
        let step = steps >> UInt64((state << 2 | Int(x & 1) << 1 | Int(y & 1)) << 2)
        return (Int(step >> 2 & 3), step & 3)
    }

    /// For each state (4) and quadrant xy (4), four bits: the next state, then the position of the
    /// quadrant among the four. State 0 runs (0,0) (0,1) (1,1) (1,0); the others are its mirror
    /// images at the diagonals.
    private static let steps: UInt64 = {
        let orders: [[(quadrant: Int, next: Int)]] = [
            [(0, 1), (1, 0), (3, 0), (2, 2)],
            [(0, 0), (2, 1), (3, 1), (1, 3)],
            [(3, 3), (1, 2), (0, 2), (2, 0)],
            [(3, 2), (2, 3), (0, 3), (1, 1)],
        ]
        var packed: UInt64 = 0
        for (state, order) in orders.enumerated() {
            for (position, step) in order.enumerated() {
                let value = UInt64(step.next << 2 | position)
                packed |= value << UInt64((state << 2 | step.quadrant) << 2)
            }
        }
        return packed
    }()

    /// For each state (4), four bits of x and four of y: the state after four steps, then in eight
    /// bits their position.
    private static let fourSteps: [UInt16] = (0..<1_024).map { cell in
        var (state, index) = (cell >> 8, UInt64(0))
        for shift in [3, 2, 1, 0] as [UInt32] {
            let step = step(
                from: state, x: UInt32(cell >> 4) >> shift, y: UInt32(cell) >> shift)
            (state, index) = (step.state, index << 2 | step.position)
        }
        return UInt16(state << 8) | UInt16(index)
    }
}

/// The square of cells that the curve runs through, laid over all longitudes and latitudes.
struct CurveCells {
    /// The bits of a cell's number on each axis.
    let bits: Int
    private let perLongitude: Double
    private let perLatitude: Double
    private let last: UInt32

    init(bits: Int) {
        self.bits = bits
        last = UInt32(1) << UInt32(bits) - 1
        perLongitude = Double(UInt32(1) << UInt32(bits)) / 360
        perLatitude = Double(UInt32(1) << UInt32(bits)) / 180
    }

    /// The smallest cells that a tree is sorted by, 10 metres at the equator.
    static let finest = CurveCells(bits: 22)

    /// The position along the curve of the cell at a place.
    ///
    /// A square of fewer bits orders places in the same way, as far as it tells them apart.
    func position(latitude: Double, longitude: Double) -> UInt64 {
        HilbertCurve.index(
            x: min(UInt32((longitude + 180) * perLongitude), last),
            y: min(UInt32((latitude + 90) * perLatitude), last), bits: bits)
    }
}

/// A place in the order of the entries of every tree: by the finest cells along the curve, and in a
/// cell in some order of places. Entries at one place, in bits, are therefore neighbours. Among
/// them, the order is that of their slots.
struct CurvePlace: Comparable {
    private let cell: UInt64
    private let latitude: UInt64
    private let longitude: UInt64

    init(latitude: Double, longitude: Double) {
        self.init(
            cell: CurveCells.finest.position(latitude: latitude, longitude: longitude),
            latitude: latitude, longitude: longitude)
    }

    /// - Parameter cell: the position of the place's finest cell.
    init(cell: UInt64, latitude: Double, longitude: Double) {
        self.cell = cell
        (self.latitude, self.longitude) = (latitude.bitPattern, longitude.bitPattern)
    }

    static func < (a: CurvePlace, b: CurvePlace) -> Bool {
        (a.cell, a.latitude, a.longitude) < (b.cell, b.latitude, b.longitude)
    }
}

/// How points, or the middles of boxes, are sorted along the curve: by keys with the position on the curve in the high bits
/// and the number of the point in the low bits. The position has as many bits as the number leaves,
/// so that points with equal bits remain to be sorted.
struct CurveKeys {
    private let cells: CurveCells
    let shift: UInt64

    init(count: Int) {
        let numberBits = max(
            64 - 2 * CurveCells.finest.bits, Int.bitWidth - (count - 1).leadingZeroBitCount)
        cells = CurveCells(bits: (64 - numberBits) / 2)
        shift = UInt64(64 - 2 * cells.bits)
    }

    func key(_ number: Int, latitude: Double, longitude: Double) -> UInt64 {
        cells.position(latitude: latitude, longitude: longitude) << shift | UInt64(number)
    }

    func number(of key: UInt64) -> Int { Int(key & (UInt64(1) << shift - 1)) }
}
