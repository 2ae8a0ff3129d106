import ArgumentParser

/// A length of time with its unit, as people type it: `90s`, `2h`.
struct TimeLength: ExpressibleByArgument {
    let milliseconds: Int

    init?(argument: String) {
        guard Int(argument) == nil, let value = Measure.milliseconds.value(of: argument),
            (1..<1 << 52).contains(value)
        else { return nil }
        milliseconds = value
    }
}
