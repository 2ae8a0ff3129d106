/// On which side of a line a point lies, exactly.
enum Orientation {
    /// Greater than 0 where `p` lies left of the line from `a` to `b`, less than 0 where it lies
    /// right of it, 0 where it lies on it.
    ///
    /// The sign is that of the real numbers, as long as no product is below the least normal
    /// binary64: rounded first, and exact where rounding could decide.
    ///
    /// - Reference: Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust
    ///   Geometric Predicates", 1997.
    @inline(__always)
    static func sign(
        _ ax: Double, _ ay: Double, _ bx: Double, _ by: Double, _ px: Double, _ py: Double
    ) -> Double {
        let (left, right) = ((ax - px) * (by - py), (ay - py) * (bx - px))
        let difference = left - right
        // Inequality: the error of the difference is at most this.
        if abs(difference) > 4.5e-16 * (abs(left) + abs(right)) { return difference }
        return exactSign(ax, ay, bx, by, px, py)
    }

    @inline(never)
    private static func exactSign(
        _ ax: Double, _ ay: Double, _ bx: Double, _ by: Double, _ px: Double, _ py: Double
    ) -> Double {
        var sum = Expansion()
        for (x, y) in [(ax, by), (-ay, bx), (bx, py), (-by, px), (px, ay), (-py, ax)] {
            let product = x * y
            sum.add(product)
            sum.add((-product).addingProduct(x, y))
        }
        return sum.sign
    }

    /// A sum without rounding: parts that do not overlap, the largest last.
    private struct Expansion {
        private var parts: [Double] = []

        mutating func add(_ term: Double) {
            var carry = term
            for position in parts.indices {
                let part = parts[position]
                let sum = carry + part
                let virtual = sum - carry
                parts[position] = (carry - (sum - virtual)) + (part - virtual)
                carry = sum
            }
            parts.append(carry)
        }

        var sign: Double { parts.last { $0 != 0 } ?? 0 }
    }
}
