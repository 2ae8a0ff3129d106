/// Counts edges until it is time to ask whether the time is over.
struct EdgeCount {
    private var edges = 0
    private static let edgesBetween = 1_024

    @inline(__always)
    mutating func add() { edges += 1 }

    @inline(__always)
    mutating func isOver(_ asked: () -> Bool) -> Bool {
        edges += 1
        guard edges >= Self.edgesBetween else { return false }
        edges = 0
        return asked()
    }
}
