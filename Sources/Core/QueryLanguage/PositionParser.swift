import Geodesy
import Objects
import PlainJSON

/// Parses positions of GeoJSON (RFC 7946), and counts those of one query against a limit.
///
/// The first two numbers of a position are longitude and latitude; further ones, such as an
/// altitude, must be numbers and are ignored.
struct PositionParser {
    /// How many more positions the query may have.
    private var left: Int
    private let limit: Int
    /// What they are positions of, in the plural.
    private let owners: String

    init(limit: Int, of owners: String) {
        left = limit
        self.limit = limit
        self.owners = owners
    }

    /// An array of positions.
    ///
    /// - Parameter expected: what it has to be, with its article, for the failure.
    mutating func positions(
        _ view: JSONView, _ expected: String
    ) throws(ServiceFailure) -> [Coordinate] {
        try view.map(expected) { view throws(ServiceFailure) in try position(view) }
    }

    private mutating func position(_ view: JSONView) throws(ServiceFailure) -> Coordinate {
        var numbers = view.elements
        guard let longitude = numbers.next(), let latitude = numbers.next() else {
            throw ServiceFailure(
                .invalidInputData, "expected a position: [longitude, latitude] in degrees")
        }
        left -= 1
        guard left >= 0 else {
            throw ServiceFailure(
                .invalidInputData, "more than \(limit) positions in the \(owners) of one query")
        }
        for (index, number) in zip(2..., numbers) where number.number == nil {
            throw ServiceFailure(.invalidInputData, "expected a number", at: "[\(index)]")
        }
        return Coordinate(
            latitude: try GeoPoint.degrees(latitude, 90, at: "[1]"),
            longitude: try GeoPoint.degrees(longitude, 180, at: "[0]"))
    }
}

extension JSONView {
    /// What `read` makes of the elements of an array; its failures get the index as their path.
    ///
    /// - Parameter expected: what the array has to be, with its article, for the failure.
    func map<Element>(
        _ expected: String, _ read: (JSONView) throws(ServiceFailure) -> Element
    ) throws(ServiceFailure) -> [Element] {
        guard kind == .array else {
            throw ServiceFailure(.invalidInputData, "expected \(expected)")
        }
        var result: [Element] = []
        result.reserveCapacity(count)
        for (index, element) in zip(0..., elements) {
            result.append(try ServiceFailure.inside("[\(index)]", try read(element)))
        }
        return result
    }
}
