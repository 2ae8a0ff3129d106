import Geodesy
import Objects
import PlainJSON

/// The answer to a `ClusterQuery`: cells by row and column, each with its number of objects and their
/// mean, or with an object.
public struct ClusterAnswer: Sendable, Equatable {
    /// A cell that has objects.
    public struct Cluster: Sendable, Equatable {
        /// The cell, of the answer's level.
        public let cell: GridCell
        /// The number of its objects.
        public let count: Int
        /// Their mean, or the object.
        public let content: Content

        /// Stores its arguments.
        public init(_ cell: GridCell, count: Int, _ content: Content) {
            (self.cell, self.count, self.content) = (cell, count, content)
        }
    }

    /// What is told of the objects of a cell.
    public enum Content: Sendable, Equatable {
        /// The mean of their places.
        case center(Coordinate)
        /// The only object: where its text is in `objects`, and its places in the cell if they were
        /// asked for.
        case object(Range<Int>, places: [Coordinate]?)
    }

    /// The state that it was found in.
    public var change: UInt64
    /// What the bucket's objects are called; nil if nobody asked for it.
    public var state: String?
    /// The level of the cells.
    public var level: Int
    /// Nil if the client has the answer of this state.
    public var clusters: [Cluster]?
    /// The texts of the objects that are told, with commas between them.
    public var objects: [UInt8]

    /// Stores its arguments.
    public init(
        change: UInt64, state: String?, level: Int, clusters: [Cluster]?, objects: [UInt8] = []
    ) {
        (self.change, self.state, self.level) = (change, state, level)
        (self.clusters, self.objects) = (clusters, objects)
    }

    /// The sum of the counts.
    public var total: Int { clusters?.reduce(0) { $0 + $1.count } ?? 0 }

    /// The name of a cell: `9/454/201`, level, column and row.
    public func name(of cell: GridCell) -> String { "\(level)/\(cell.column)/\(cell.row)" }
}

// MARK: JSON

extension ClusterAnswer {
    /// Appends the JSON that the service answers with.
    public func write(to writer: inout JSONWriter) {
        writer.raw("{\"change\":")
        writer.integer(change)
        if let state {
            writer.key("state")
            writer.string(state)
        }
        if let clusters {
            writer.key("total")
            writer.integer(total)
            writer.raw(",\"clusters\":[")
            objects.withUnsafeBufferPointer { objects in
                writer.list(clusters) { write($0, objects, to: &$1) }
            }
            writer.byte(UInt8(ascii: "]"))
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private func write(
        _ cluster: Cluster, _ objects: UnsafeBufferPointer<UInt8>, to writer: inout JSONWriter
    ) {
        writer.raw("{\"cell\":\"")
        writer.integer(level)
        writer.byte(UInt8(ascii: "/"))
        writer.integer(cluster.cell.column)
        writer.byte(UInt8(ascii: "/"))
        writer.integer(cluster.cell.row)
        writer.raw("\",\"count\":")
        writer.integer(cluster.count)
        switch cluster.content {
        case .center(let center):
            writer.key("center")
            writer.point(latitude: center.latitude, longitude: center.longitude)
        case .object(let range, let places):
            if let places {
                writer.raw(",\"places\":[")
                writer.list(places) { place, writer in
                    writer.point(latitude: place.latitude, longitude: place.longitude)
                }
                writer.byte(UInt8(ascii: "]"))
            }
            writer.key("object")
            writer.raw(UnsafeBufferPointer(rebasing: objects[range]))
        }
        writer.byte(UInt8(ascii: "}"))
    }

    /// Reads what `write(to:)` has written; nil for anything else.
    public init?(_ view: JSONView) {
        guard let change = view["change"]?.number?.exactInt.flatMap(UInt64.init) else { return nil }
        self.init(change: change, state: view["state"]?.string, level: 0, clusters: nil)
        guard let all = view["clusters"] else { return }
        var clusters: [Cluster] = []
        for item in all.elements {
            guard let (level, cell) = (item["cell"]?.string).flatMap(Self.cell),
                let count = item["count"]?.number?.exactInt, let content = content(of: item)
            else { return nil }
            self.level = level
            clusters.append(Cluster(cell, count: count, content))
        }
        self.clusters = clusters
    }

    /// Reads what is told of a cell, and keeps the text of its object.
    private mutating func content(of item: JSONView) -> Content? {
        guard let object = item["object"] else {
            return item["center"].flatMap(GeoPoint.coordinate).map { .center($0) }
        }
        if !objects.isEmpty { objects.append(UInt8(ascii: ",")) }
        let start = objects.count
        objects += object.text
        let places = item["places"].map { GeoPoint.coordinates(of: $0) }
        return .object(start..<objects.count, places: places)
    }

    private static func cell(_ name: String) -> (level: Int, cell: GridCell)? {
        let parts = name.split(separator: "/").compactMap { UInt32($0) }
        guard parts.count == 3 else { return nil }
        return (Int(parts[0]), GridCell(column: parts[1], row: parts[2]))
    }
}
