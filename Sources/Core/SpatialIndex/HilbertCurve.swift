/// The Hilbert curve over a square of cells: neighbours on the curve are neighbours on the map.
///
/// - Reference: Hamilton and Rau-Chaplin, "Compact Hilbert indices", 2007. The two-dimensional
///   curve is a machine of four states that reads one bit of each axis per step.
enum HilbertCurve {
    /// The position of the cell (x, y) along the curve. With `bits` bits per axis, the result has
    /// twice as many.
    static func index(x: UInt32, y: UInt32, bits: Int) -> UInt64 {
        var state = 0
        var index: UInt64 = 0
        var shift = bits - 1
        while shift >= 0 {
            let quadrant = Int((x >> UInt32(shift)) & 1) << 1 | Int((y >> UInt32(shift)) & 1)
            let step = (steps >> UInt64((state << 2 | quadrant) << 2)) & 15
            index = index << 2 | (step & 3)
            state = Int(step >> 2)
            shift -= 1
        }
        return index
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
}
