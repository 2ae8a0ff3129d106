/// What is asked.
public enum Workload: String, CaseIterable, Codable, Sendable, Comparable {
    case q1 = "Q1"
    case q2 = "Q2"
    case q3 = "Q3"
    case q4 = "Q4"
    case q5 = "Q5"
    case q6 = "Q6"
    case q7 = "Q7"
    case q8 = "Q8"
    case q9 = "Q9"
    case q10 = "Q10"
    case q11 = "Q11"

    public var title: String {
        switch self {
        case .q1: "radius, 100 hits: ids and distances, unsorted"
        case .q2: "radius, 1,000 hits: nearest 50, ids and distances"
        case .q3: "box, about 100 hits: whole objects"
        case .q4: "radius, 2,000 hits, category = x and rating >= 50: nearest 20, whole objects"
        case .q5: "10 nearest: ids and distances"
        case .q6: "category = x, by rating descending: first 20, whole objects"
        case .q7: "count of Q4's clause"
        case .q8: "Q1 on 16 connections while 16 others move objects"
        case .q9:
            "corridor around 100 positions, 1,000 hits: nearest 50 to the line, ids and distances"
        case .q10: "radius, 2,000 hits, rating >= 50: counts by category"
        case .q11: "Q3 with a hundred times as many queries"
        }
    }

    /// How many objects lie in the circle, and in the corridor if there is one.
    public var circleHits: Int {
        switch self {
        case .q1, .q3, .q8, .q11: 100
        case .q2, .q9: 1_000
        case .q4, .q7, .q10: 2_000
        case .q5: 10
        case .q6: 1
        }
    }

    /// The workload whose queries it asks.
    public var form: Workload { self == .q11 ? .q3 : self }

    /// How many different queries it asks, for each one that others ask. Those of Q11 need more
    /// documents than a service with default limits keeps in memory.
    public var variety: Int { self == .q11 ? 100 : 1 }

    /// The least rating that Q4, Q7 and Q10 ask for.
    public static let leastRating: UInt8 = 50

    /// What the ten nearest are first looked for within, in metres, by a peer that can only search
    /// circles; it doubles the radius until it has ten.
    public static let firstRadiusMeters = 1_000.0

    private var number: Int { Int(rawValue.dropFirst())! }

    public static func < (a: Workload, b: Workload) -> Bool { a.number < b.number }
}
