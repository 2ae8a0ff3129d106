/// Whether outlines meet, told exactly.
///
/// Two areas or lines meet where edges do, or where a part of one lies wholly in the other. Then any
/// vertex of it does: edges that meet no other stay on one side.
///
/// - Complexity: O(k log n) for k edges within the bounds of the other outline.
struct OutlineMeeting {
    private let a, b: Outline

    init(_ a: Outline, _ b: Outline) {
        // The one with fewer edges asks the tree of the other.
        (self.a, self.b) = a.vertices.count <= b.vertices.count ? (a, b) : (b, a)
    }

    /// Nil if it has been ended before.
    func isThere(until isOver: () -> Bool) -> Bool? {
        for turn in a.turns(of: b) {
            let a = TurnedOutline(outline: a, turn: max(0, -turn))
            let b = TurnedOutline(outline: b, turn: max(0, turn))
            if a.hasPart(in: b) || b.hasPart(in: a) { return true }
            var count = EdgeCount()
            var isMeeting = false
            let isWhole = a.edges(meeting: b.bounds) { edge in
                let isApart = b.edges(meeting: edge.bounds) { other in
                    count.add()
                    return !edge.touches(other)
                }
                isMeeting = !isApart
                return isApart && !count.isOver(isOver)
            }
            if isMeeting { return true }
            if !isWhole { return nil }
        }
        return false
    }
}

extension TurnedOutline {
    /// Whether a vertex of some part lies in an area.
    fileprivate func hasPart(in other: TurnedOutline) -> Bool {
        other.outline.isArea
            && outline.partVertices.contains { number in
                other.location(of: outline.vertex(Int(number), turn: turn)) != .outside
            }
    }
}
