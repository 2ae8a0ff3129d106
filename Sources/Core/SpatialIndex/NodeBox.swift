import Geodesy

/// The bounds of everything below a node: a box of unit vectors and a rectangle in degrees.
///
/// Inequality: for every point below the node, each component of its exact unit vector and its
/// latitude and longitude lie between `low` and `high`, `south` and `north`, `west` and `east`.
struct NodeBox {
    var lowX, lowY, lowZ, highX, highY, highZ: Float
    var south, west, north, east: Float

    /// The empty box: a union with it is the other box.
    static let empty = NodeBox(
        lowX: .infinity, lowY: .infinity, lowZ: .infinity,
        highX: -.infinity, highY: -.infinity, highZ: -.infinity,
        south: .infinity, west: .infinity, north: -.infinity, east: -.infinity)

    mutating func formUnion(_ other: NodeBox) {
        lowX = min(lowX, other.lowX)
        lowY = min(lowY, other.lowY)
        lowZ = min(lowZ, other.lowZ)
        highX = max(highX, other.highX)
        highY = max(highY, other.highY)
        highZ = max(highZ, other.highZ)
        south = min(south, other.south)
        west = min(west, other.west)
        north = max(north, other.north)
        east = max(east, other.east)
    }

    /// Whether `other` is wholly inside this box.
    func contains(_ other: NodeBox) -> Bool {
        lowX <= other.lowX && lowY <= other.lowY && lowZ <= other.lowZ
            && highX >= other.highX && highY >= other.highY && highZ >= other.highZ
            && south <= other.south && west <= other.west
            && north >= other.north && east >= other.east
    }

    /// The bounds of one leaf's entries.
    init(leaf: Leaf, count: Int) {
        self = .empty
        var south = Double.infinity
        var west = Double.infinity
        var north = -Double.infinity
        var east = -Double.infinity
        for lane in 0..<count {
            let entry = leaf.entry(lane)
            lowX = min(lowX, entry.vector.x)
            lowY = min(lowY, entry.vector.y)
            lowZ = min(lowZ, entry.vector.z)
            highX = max(highX, entry.vector.x)
            highY = max(highY, entry.vector.y)
            highZ = max(highZ, entry.vector.z)
            south = min(south, entry.latitude)
            west = min(west, entry.longitude)
            north = max(north, entry.latitude)
            east = max(east, entry.longitude)
        }
        widenVectors()
        self.south = .roundedDown(south)
        self.west = .roundedDown(west)
        self.north = .roundedUp(north)
        self.east = .roundedUp(east)
    }

    private init(
        lowX: Float, lowY: Float, lowZ: Float, highX: Float, highY: Float, highZ: Float,
        south: Float, west: Float, north: Float, east: Float
    ) {
        self.lowX = lowX
        self.lowY = lowY
        self.lowZ = lowZ
        self.highX = highX
        self.highY = highY
        self.highZ = highZ
        self.south = south
        self.west = west
        self.north = north
        self.east = east
    }

    // A stored component is the exact one rounded to Float. The error is half a unit of the last
    // place, at most 2^-25, and 1e-15 for the trigonometry.
    private mutating func widenVectors() {
        let margin = 0x1p-25 + 1e-15
        lowX = .roundedDown(Double(lowX) - margin)
        lowY = .roundedDown(Double(lowY) - margin)
        lowZ = .roundedDown(Double(lowZ) - margin)
        highX = .roundedUp(Double(highX) + margin)
        highY = .roundedUp(Double(highY) + margin)
        highZ = .roundedUp(Double(highZ) + margin)
    }
}

extension NodeBox {
    /// Reads the box of one child in a group.
    init(group: UnsafeMutableRawPointer, lane: Int) {
        func column(_ offset: Int) -> Float {
            group.load(fromByteOffset: offset + lane * 4, as: Float.self)
        }
        typealias Group = TierLayout.Group
        self.init(
            lowX: column(Group.lowX), lowY: column(Group.lowY), lowZ: column(Group.lowZ),
            highX: column(Group.highX), highY: column(Group.highY), highZ: column(Group.highZ),
            south: column(Group.south), west: column(Group.west), north: column(Group.north),
            east: column(Group.east))
    }

    /// Writes the box as one child of a group.
    func store(group: UnsafeMutableRawPointer, lane: Int) {
        func set(_ offset: Int, _ value: Float) {
            group.storeBytes(of: value, toByteOffset: offset + lane * 4, as: Float.self)
        }
        typealias Group = TierLayout.Group
        set(Group.lowX, lowX)
        set(Group.lowY, lowY)
        set(Group.lowZ, lowZ)
        set(Group.highX, highX)
        set(Group.highY, highY)
        set(Group.highZ, highZ)
        set(Group.south, south)
        set(Group.west, west)
        set(Group.north, north)
        set(Group.east, east)
    }
}

extension Float {
    /// The largest `Float` that is at most `value`.
    static func roundedDown(_ value: Double) -> Float {
        let nearest = Float(value)
        return Double(nearest) > value ? nearest.nextDown : nearest
    }

    /// The smallest `Float` that is at least `value`.
    static func roundedUp(_ value: Double) -> Float {
        let nearest = Float(value)
        return Double(nearest) < value ? nearest.nextUp : nearest
    }
}
