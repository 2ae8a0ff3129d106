/// On which side of a line a point lies, exactly.
enum Orientation {
    /// Greater than 0 where `p` lies left of the line from `a` to `b`, less than 0 where it lies
    /// right of it, 0 where it lies on it.
    ///
    /// The sign is that of the real numbers for coordinates of degrees that are 0 or at least 2^-960:
    /// rounded first, and exact where rounding could decide.
    ///
    /// - Reference: Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust
    ///   Geometric Predicates", 1997.
    @inline(__always)
    static func sign(
        _ ax: Double, _ ay: Double, _ bx: Double, _ by: Double, _ px: Double, _ py: Double
    ) -> Double {
        let (left, right) = ((ax - px) * (by - py), (ay - py) * (bx - px))
        let difference = left - right
        // Inequality: the error of the difference is at most this, of products that underflow too.
        if abs(difference) > 4.5e-16 * (abs(left) + abs(right)) + 0x1p-1020 { return difference }
        return exactSign(ax, ay, bx, by, px, py)
    }

    @inline(never)
    private static func exactSign(
        _ ax: Double, _ ay: Double, _ bx: Double, _ by: Double, _ px: Double, _ py: Double
    ) -> Double {
        // An end of the line, or a point of one along a meridian or parallel: no product is anything.
        if ax == px || by == py, ay == py || bx == px { return 0 }
        // Scaled, so that the products of small numbers do not underflow.
        let scale = 0x1p480
        let (ax, ay, bx, by) = (ax * scale, ay * scale, bx * scale, by * scale)
        let (px, py) = (px * scale, py * scale)
        var sum = Expansion()
        sum.add(ax, by)
        sum.add(-ay, bx)
        sum.add(bx, py)
        sum.add(-by, px)
        sum.add(px, ay)
        sum.add(-py, ax)
        return sum.sign
    }

    /// A sum of six products without rounding: parts that do not overlap, the largest last.
    private struct Expansion {
        private var parts = SIMD16<Double>()
        private var count = 0

        /// Adds a product: what of it is rounded, and the rest.
        mutating func add(_ x: Double, _ y: Double) {
            let product = x * y
            add(product)
            add((-product).addingProduct(x, y))
        }

        private mutating func add(_ term: Double) {
            var carry = term
            for position in 0..<count {
                let part = parts[position]
                let sum = carry + part
                let virtual = sum - carry
                parts[position] = (carry - (sum - virtual)) + (part - virtual)
                carry = sum
            }
            parts[count] = carry
            count += 1
        }

        var sign: Double { (0..<count).last { parts[$0] != 0 }.map { parts[$0] } ?? 0 }
    }
}
