/// An outline as it lies in the plane so many times more around to the east.
struct TurnedOutline {
    let outline: Outline
    let turn: Int

    /// Where a point lies.
    enum Location {
        case outside, edge, inside
    }

    @inline(__always)
    func edge(_ number: Int) -> PlaneEdge {
        let (a, b) = (outline.vertex(number, turn: turn), outline.vertex(number + 1, turn: turn))
        return PlaneEdge(ax: a.x, ay: a.y, bx: b.x, by: b.y)
    }

    /// Calls `body` with every edge whose bounds overlap a rectangle, until it returns false.
    ///
    /// - Returns: whether it has been called for all of them.
    @inline(__always)
    func edges(meeting box: PlaneBounds, _ body: (PlaneEdge) -> Bool) -> Bool {
        outline.tree.search(box.moved(byTurns: -turn)) { numbers in
            for number in numbers {
                let edge = edge(number)
                if edge.bounds.overlaps(box), !body(edge) { return false }
            }
            return true
        }
    }

    var bounds: PlaneBounds { outline.bounds.moved(byTurns: turn) }

    /// Whether the point lies on an edge or inside.
    func contains(_ point: PlanePoint) -> Bool { location(of: point) != .outside }

    /// Where a point lies, exactly: by the parity of the edges that a ray to the left crosses. Of lines
    /// nothing is inside.
    func location(of point: PlanePoint) -> Location {
        var isInside = false
        let isOnEdge = !follow(outline.tree.root, point, PlaneBounds(point).moved(byTurns: -turn)) {
            isInside.toggle()
        }
        if isOnEdge { return .edge }
        return isInside && outline.isArea ? .inside : .outside
    }

    /// Calls `cross` for each edge of a node that the ray crosses; false if the point lies on one.
    ///
    /// - Parameter box: the point as the tree has it, with what rounding makes of it.
    private func follow(
        _ node: EdgeTree.Node, _ point: PlanePoint, _ box: PlaneBounds, _ cross: () -> Void
    ) -> Bool {
        let tree = outline.tree
        let bounds = tree.bounds(of: node)
        guard point.y >= bounds.south, point.y <= bounds.north, bounds.west <= box.east else {
            return true
        }
        // Consecutive edges farther left are crossed as often, but for pairs, as one from end to end.
        if bounds.east < box.west, let ends = tree.ends(of: node) {
            let (first, last) = (outline.vertices[ends.first].y, outline.vertices[ends.last].y)
            if (first > point.y) != (last > point.y) { cross() }
            return true
        }
        if node.level == 0 {
            for number in tree.edges(of: node) {
                switch edge(number).meeting(withRayFrom: point.x, point.y) {
                case .touch: return false
                case .crossing: cross()
                case .none: break
                }
            }
            return true
        }
        for child in tree.children(of: node) {
            let child = EdgeTree.Node(level: node.level - 1, number: child)
            guard follow(child, point, box, cross) else { return false }
        }
        return true
    }
}

extension Outline {
    /// By how many turns another outline is to be moved to lie where this one does, if only in part.
    func turns(of other: Outline) -> [Int] {
        [0, 1, -1].filter { other.bounds.moved(byTurns: $0).overlaps(bounds) }
    }
}
