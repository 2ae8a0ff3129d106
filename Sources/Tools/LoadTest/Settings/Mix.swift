import SyntheticData

/// The kind of a request.
public enum RequestKind: String, CaseIterable, Codable, Sendable {
    /// Up to 100 ids and distances within the radius.
    case radius
    /// The 10 nearest objects with their distances.
    case nearest
    /// Up to 100 objects in the box around the circle of the radius.
    case box
    /// The 20 nearest objects within the radius that match a clause.
    case filter
    /// How many objects lie within the radius.
    case count
    /// One object by its id.
    case get
    /// A new object.
    case create
    /// An object replaced whole.
    case put
    /// An object moved by some distance: a patch of its position.
    case move
    /// A watch moved by some distance.
    case follow

    /// Whether it asks for objects by a clause.
    public var isQuery: Bool {
        switch self {
        case .radius, .nearest, .box, .filter, .count: true
        case .get, .create, .put, .move, .follow: false
        }
    }

    /// Whether it changes an object.
    var isWrite: Bool { self == .create || self == .put || self == .move }
}

/// The frequency of each kind of request, by weight.
///
///     let mix = try Mix("radius=60,nearest=20,move=8")
///     mix.pick(&random)       // .radius, 60 times in 88
public struct Mix: Sendable, Equatable, CustomStringConvertible {
    /// Weights above 0, in the order of the text.
    public let weights: [Weight]
    private let total: Int

    /// A kind of request and its share.
    public struct Weight: Sendable, Equatable {
        /// The kind of request.
        public var kind: RequestKind
        /// Its share of the sum of all weights: 1 to 1,000,000.
        public var weight: Int
    }

    /// The largest weight.
    static let largestWeight = 1_000_000

    /// Parses `KIND=WEIGHT,…`; a kind without a weight has weight 1.
    ///
    /// - Throws: `LoadFailure` that names the part at fault.
    public init(_ text: String) throws(LoadFailure) {
        var weights: [Weight] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let weight = try Self.weight(part)
            guard !weights.contains(where: { $0.kind == weight.kind }) else {
                throw LoadFailure("\(weight.kind.rawValue) stands twice in the mix")
            }
            weights.append(weight)
        }
        self.weights = weights
        total = weights.reduce(0) { $0 + $1.weight }
    }

    private static func weight(_ part: Substring) throws(LoadFailure) -> Weight {
        let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = sides.first, let kind = RequestKind(rawValue: String(name)) else {
            let known = RequestKind.allCases.map(\.rawValue).joined(separator: ", ")
            throw LoadFailure("\"\(part)\" is no kind of request; there are \(known)")
        }
        guard sides.count == 2 else { return Weight(kind: kind, weight: 1) }
        guard let weight = Int(sides[1]), (1...largestWeight).contains(weight) else {
            throw LoadFailure("the weight in \"\(part)\" is outside 1...\(largestWeight)")
        }
        return Weight(kind: kind, weight: weight)
    }

    public var description: String {
        weights.map { "\($0.kind.rawValue)=\($0.weight)" }.joined(separator: ",")
    }

    func pick(_ random: inout SplitMix64) -> RequestKind {
        var rest = random.below(total)
        for weight in weights {
            rest -= weight.weight
            if rest < 0 { return weight.kind }
        }
        preconditionFailure("\(total) is not the sum of \(weights)")
    }
}
