import LoadTest

/// Sizes and times as people read them.
enum Amounts {
    /// `512 B`, `1.5 KiB`, `12.3 MiB`.
    static func bytes(_ count: Int) -> String {
        var (value, unit) = (Double(count), "B")
        for next in ["KiB", "MiB", "GiB", "TiB"] where value >= 1_024 {
            (value, unit) = (value / 1_024, next)
        }
        return "\(Figures.number(value, decimals: 1)) \(unit)"
    }

    /// `950 µs`, `12 ms`, `3.2 s`.
    static func time(microseconds: Double) -> String {
        if microseconds < 1_000 { return "\(Figures.number(microseconds, decimals: 0)) µs" }
        if microseconds < 1_000_000 {
            return "\(Figures.number(microseconds / 1_000, decimals: 1)) ms"
        }
        return "\(Figures.number(microseconds / 1_000_000, decimals: 1)) s"
    }

    /// The two largest units: `45 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`.
    static func duration(seconds: Int) -> String {
        let units = [("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)]
        let first = units.firstIndex { seconds >= $0.1 } ?? 3
        var rest = seconds
        return units[first...].prefix(2).map { name, size in
            defer { rest %= size }
            return "\(rest / size) \(name)"
        }.filter { !$0.hasPrefix("0 ") || seconds == 0 }.joined(separator: " ")
    }
}
