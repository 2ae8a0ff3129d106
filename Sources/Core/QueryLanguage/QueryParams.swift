import Geodesy
import Objects
import PlainJSON

extension Query {
    /// Appends the members of `bucket.query` that make the parser read this query, each with a comma
    /// before it.
    public func writeParams(to writer: inout JSONWriter) {
        writer.raw(",\"bucketQuery\":{\"clause\":")
        clause.write(to: &writer)
        if !order.isEmpty {
            writer.raw(",\"orderBy\":[")
            writer.list(order) { $0.write(to: &$1) }
            writer.byte(UInt8(ascii: "]"))
        }
        if !aggregations.isEmpty {
            writer.raw(",\"aggregations\":[")
            writer.list(aggregations) { $0.write(to: &$1) }
            writer.byte(UInt8(ascii: "]"))
        }
        writer.byte(UInt8(ascii: "}"))
        if let limit {
            writer.key("bestEffortLimit")
            writer.integer(limit)
        }
        if let paginationKey {
            writer.key("paginationKey")
            writer.string(paginationKey)
        }
        writer.fields(fields)
    }
}

extension ClusterQuery {
    /// Appends the members of `bucket.clusters` that make the parser read this query, each with a comma
    /// before it.
    public func writeParams(to writer: inout JSONWriter) {
        Query(clause: clause, fields: fields).writeParams(to: &writer)
        if let field {
            writer.key("field")
            writer.string(field.utf8)
        }
        let bits = min(window.level, Self.bits.upperBound)
        writer.key("zoom")
        writer.integer(window.level - bits)
        writer.key("bits")
        writer.integer(bits)
        let box = window.box
        writer.raw(",\"box\":{\"sw\":")
        writer.point(latitude: box.south, longitude: box.west)
        writer.key("ne")
        writer.point(latitude: box.north, longitude: box.east)
        writer.byte(UInt8(ascii: "}"))
        if let listedObjects {
            writer.key("objects")
            writer.integer(listedObjects)
        }
        if let knownState {
            writer.key("ifState")
            writer.string(knownState)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func fields(_ fields: [[UInt8]]?) {
        guard let fields else { return }
        raw(",\"fields\":[")
        list(fields) { $1.string($0) }
        byte(UInt8(ascii: "]"))
    }
}
