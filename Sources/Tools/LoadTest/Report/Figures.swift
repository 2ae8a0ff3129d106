import Glibc

/// Numbers as people read them.
package enum Figures {
    /// Three significant digits, at most `most` decimals, no trailing zeros: `0.182`, `5,120`.
    package static func number(_ value: Double, decimals most: Int = 4) -> String {
        guard value.isFinite else { return "–" }
        let magnitude = value == 0 ? 2 : Int(log10(abs(value)).rounded(.down))
        var decimals = min(most, max(0, 2 - magnitude))
        var scaled = Int((abs(value) * pow(10, Double(decimals))).rounded())
        while decimals > 0, scaled % 10 == 0 { (scaled, decimals) = (scaled / 10, decimals - 1) }
        let sign = value < 0 && scaled > 0 ? "−" : ""
        let power = Int(pow(10, Double(decimals)))
        let (whole, fraction) = scaled.quotientAndRemainder(dividingBy: power)
        guard decimals > 0 else { return sign + count(whole) }
        let zeros = String(repeating: "0", count: decimals - String(fraction).count)
        return "\(sign)\(count(whole)).\(zeros)\(fraction)"
    }

    /// `12,345`
    package static func count(_ value: Int) -> String {
        var text = ""
        for (position, digit) in String(value).reversed().enumerated() {
            if position > 0, position % 3 == 0, digit != "-" { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }

    /// Converts microseconds to milliseconds.
    package static func milliseconds(_ microseconds: Double) -> String {
        number(microseconds / 1_000, decimals: 3)
    }

    package static func percent(_ share: Double) -> String {
        number(share * 100, decimals: 2) + " %"
    }

    /// The relative change from the first to the second: `+12 %`.
    package static func change(from a: Double, to b: Double) -> String {
        if a == b { return "0 %" }
        guard a != 0 else { return "–" }
        let change = (b - a) / a
        return (change > 0 ? "+" : "") + percent(change)
    }
}
