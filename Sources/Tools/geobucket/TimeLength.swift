import ArgumentParser

/// A length of time as people type it: `90s`, `2h`.
struct TimeLength: ExpressibleByArgument {
    let milliseconds: Int

    private static let units = [
        ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    init?(argument: String) {
        let unit = argument.drop { $0.isNumber }
        guard let count = Int(argument.dropLast(unit.count)), count > 0,
            let factor = Self.units.first(where: { $0.0 == unit })?.1
        else { return nil }
        let (product, isTooLarge) = count.multipliedReportingOverflow(by: factor)
        guard !isTooLarge, product < 1 << 52 else { return nil }
        milliseconds = product
    }
}
