import Glibc

/// The rates to try.
public enum LoadPlan: Sendable, Equatable {
    /// One rate, in requests a second.
    case rate(Double)
    /// Rates from the first up to the last, at equal steps.
    case ramp(from: Double, to: Double, step: Double)
    /// The highest rate between two that meets an objective.
    case search(from: Double, to: Double)

    /// The highest rate.
    public static let largestRate = 10_000_000.0
    /// The most stages of a ramp.
    static let longestRamp = 1_000

    /// A ramp from `FROM:TO:STEP`.
    ///
    /// - Throws: `LoadFailure`.
    public init(ramp text: String) throws(LoadFailure) {
        let rates = try Self.rates(text, "FROM:TO:STEP", count: 3)
        let (from, to, step) = (rates[0], rates[1], rates[2])
        guard from <= to, (to - from) / step < Double(Self.longestRamp) else {
            throw LoadFailure(
                "\"\(text)\" does not go from a rate to a higher one in at most "
                    + "\(Self.longestRamp) steps")
        }
        self = .ramp(from: from, to: to, step: step)
    }

    /// A search from `FROM:TO`.
    ///
    /// - Throws: `LoadFailure`.
    public init(search text: String) throws(LoadFailure) {
        let rates = try Self.rates(text, "FROM:TO", count: 2)
        guard rates[0] < rates[1] else {
            throw LoadFailure("\"\(text)\" does not go from a rate to a higher one")
        }
        self = .search(from: rates[0], to: rates[1])
    }

    private static func rates(
        _ text: String, _ form: String, count: Int
    ) throws(LoadFailure) -> [Double] {
        let rates = text.split(separator: ":", omittingEmptySubsequences: false).map {
            Double($0)
        }
        let isInRange = rates.allSatisfy { $0.map { $0 > 0 && $0 <= largestRate } ?? false }
        guard rates.count == count, isInRange else {
            throw LoadFailure("\"\(text)\" is no \(form) in requests a second")
        }
        return rates.compactMap { $0 }
    }

    /// The most rates that may be tried.
    var mostStages: Int {
        switch self {
        case .rate: 1
        case .ramp(let from, let to, let step):
            Int((to * RateWalk.tolerance - from) / step) + 1
        // The doublings, the last rate, and the halvings of a gap as wide as the rate below it.
        case .search(let from, let to):
            Int(log2(to / from)) + 2 + Int((-log2(RateWalk.precision)).rounded(.up))
        }
    }
}

/// Yields the rates of a plan one by one; a search depends on the previous outcome.
///
/// A search doubles the rate until one misses the objective. Then it halves the gap between the
/// highest rate that met it and the lowest that missed it, until the gap is within 5 % of the
/// former.
struct RateWalk {
    private let plan: LoadPlan
    private var tried = 0
    private(set) var highestHeld: Double?
    private var lowestFailed: Double?

    static let precision = 0.05
    /// How far rounding may push the last step of a ramp beyond its end.
    static let tolerance = 1 + 1e-9

    init(_ plan: LoadPlan) { self.plan = plan }

    /// Notes the outcome of a rate.
    mutating func note(_ rate: Double, held: Bool) {
        if !held {
            lowestFailed = min(rate, lowestFailed ?? .infinity)
        } else if rate < lowestFailed ?? .infinity {
            // No rate above one that missed the objective counts as met, even if it was lucky.
            highestHeld = rate
        }
    }

    /// The next rate, nil at the end.
    mutating func next() -> Double? {
        defer { tried += 1 }
        switch plan {
        case .rate(let rate): return tried == 0 ? rate : nil
        case .ramp(let from, let to, let step):
            let rate = from + Double(tried) * step
            return rate <= to * Self.tolerance ? min(rate, to) : nil
        case .search(let from, let to): return next(from, to)
        }
    }

    private func next(_ from: Double, _ to: Double) -> Double? {
        guard tried > 0 else { return from }
        guard let held = highestHeld else { return nil }
        guard let failed = lowestFailed else { return held < to ? min(2 * held, to) : nil }
        return failed - held > Self.precision * held ? (held + failed) / 2 : nil
    }
}
