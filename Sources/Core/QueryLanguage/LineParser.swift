import Geodesy
import Objects
import PlainJSON

/// Parses a GeoJSON geometry of type LineString (RFC 7946) into a `GeoLine`, or throws the first
/// fault with its path.
struct LineParser {
    private var positions: PositionParser

    init(limits: Limits) {
        positions = PositionParser(limit: limits.linePositions, of: "lines")
    }

    mutating func parse(_ view: JSONView) throws(ServiceFailure) -> GeoLine {
        var members = try MemberReader(view)
        let type = try members.string("type")
        guard type == "LineString" else {
            throw members.failure("type", "\(quoted(type)) is no line; expected \"LineString\"")
        }
        let coordinates = try members.required("coordinates", "an array of positions")
        try members.finish(as: "a line")
        return try ServiceFailure.inside("coordinates", try line(coordinates))
    }

    private mutating func line(_ view: JSONView) throws(ServiceFailure) -> GeoLine {
        let line = try positions.positions(view, "an array of positions")
        guard line.count > 1 else {
            throw ServiceFailure(
                .invalidInputData, "expected two or more positions, not \(line.count)")
        }
        do throws(InvalidLine) {
            return try GeoLine(line)
        } catch {
            throw ServiceFailure(
                .invalidInputData,
                "the position is the antipode of the one before it, so there is no shortest arc",
                at: "[\(error.position)]")
        }
    }
}

extension GeoLine {
    /// The line of a GeoJSON geometry of type LineString.
    public init(geoJSON view: JSONView, limits: Limits = Limits()) throws(ServiceFailure) {
        var parser = LineParser(limits: limits)
        self = try parser.parse(view)
    }
}
