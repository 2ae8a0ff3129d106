/// Bounds of runs of consecutive edges, and of groups of them, level by level: finds the edges near
/// something without a look at all of them.
///
/// Consecutive edges lie beside each other, so nothing needs to be sorted.
///
/// - Complexity: to make one O(n) for n edges; a search O(log n + edges whose run is near) for outlines
///   that do not wind to and fro.
struct EdgeTree: Sendable {
    /// Some consecutive edges of one run: `first` is the vertex where the first of them begins, `end`
    /// the one where the last ends.
    struct Block: BitwiseCopyable {
        let first, end, run: Int32
    }

    private let blocks: [Block]
    /// The bounds of the blocks, then those of eight blocks each, and so on up to one.
    private let bounds: [PlaneBounds]
    /// Where each level begins in `bounds`, and where the highest ends.
    private let levels: [Int]

    private static let fanout = 8

    /// - Parameter runEnds: where each run ends in the vertices; it has two of them or more.
    init(vertices: [PlanePoint], runEnds: [Int32]) {
        var blocks: [Block] = []
        var bounds: [PlaneBounds] = []
        var begin = 0
        for (run, runEnd) in runEnds.enumerated() {
            for first in stride(from: begin, to: Int(runEnd) - 1, by: Self.fanout) {
                let end = min(first + Self.fanout, Int(runEnd) - 1)
                var box = PlaneBounds.empty
                for vertex in vertices[first...end] { box.formUnion(PlaneBounds(vertex)) }
                blocks.append(Block(first: Int32(first), end: Int32(end), run: Int32(run)))
                bounds.append(box)
            }
            begin = Int(runEnd)
        }
        var levels = [0, bounds.count]
        while levels[levels.count - 1] - levels[levels.count - 2] > 1 {
            let below = levels[levels.count - 2]..<levels[levels.count - 1]
            for first in stride(from: below.lowerBound, to: below.upperBound, by: Self.fanout) {
                var box = PlaneBounds.empty
                for child in first..<min(first + Self.fanout, below.upperBound) {
                    box.formUnion(bounds[child])
                }
                bounds.append(box)
            }
            levels.append(bounds.count)
        }
        (self.blocks, self.bounds, self.levels) = (blocks, bounds, levels)
    }

    var byteCount: Int {
        blocks.count * MemoryLayout<Block>.stride + bounds.count * MemoryLayout<PlaneBounds>.stride
    }

    /// A group of a level, 0 for blocks.
    struct Node: BitwiseCopyable {
        let level, number: Int
    }

    var root: Node { Node(level: levels.count - 2, number: 0) }

    @inline(__always)
    func bounds(of node: Node) -> PlaneBounds { bounds[levels[node.level] + node.number] }

    /// The nodes of the level below; none for a block.
    @inline(__always)
    func children(of node: Node) -> Range<Int> {
        guard node.level > 0 else { return 0..<0 }
        let count = levels[node.level] - levels[node.level - 1]
        return node.number * Self.fanout..<min((node.number + 1) * Self.fanout, count)
    }

    /// The edges of a node at level 0, by the vertices where they begin.
    @inline(__always)
    func edges(of node: Node) -> Range<Int> {
        Int(blocks[node.number].first)..<Int(blocks[node.number].end)
    }

    /// Where the edges of a node begin and end, if they are consecutive.
    @inline(__always)
    func ends(of node: Node) -> (first: Int, last: Int)? {
        var (first, last) = (node.number, node.number)
        for _ in 0..<node.level {
            first *= Self.fanout
            last = last * Self.fanout + Self.fanout - 1
        }
        let (begin, end) = (blocks[first], blocks[min(last, blocks.count - 1)])
        return begin.run == end.run ? (Int(begin.first), Int(end.end)) : nil
    }

    /// Calls `body` with the edges of all blocks that overlap a rectangle, until it returns false.
    ///
    /// - Returns: whether it has been called for all of them.
    @inline(__always)
    func search(_ box: PlaneBounds, _ body: (Range<Int>) -> Bool) -> Bool {
        search(root, box, body)
    }

    private func search(
        _ node: Node, _ box: PlaneBounds, _ body: (Range<Int>) -> Bool
    ) -> Bool {
        guard bounds(of: node).overlaps(box) else { return true }
        if node.level == 0 { return body(edges(of: node)) }
        for child in children(of: node) {
            guard search(Node(level: node.level - 1, number: child), box, body) else {
                return false
            }
        }
        return true
    }
}
