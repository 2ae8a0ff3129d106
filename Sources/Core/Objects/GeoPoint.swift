import Geodesy
import PlainJSON

/// GeoPoints in JSON: `{"_type":"point","lat":35.658603,"lon":139.745433}`, degrees, WGS 84.
public enum GeoPoint {
    /// Whether a value claims to be a GeoPoint: an object whose `_type` is `"point"`.
    public static func isClaimed(by value: JSONView) -> Bool {
        guard value.kind == .object, let type = value["_type"]?.utf8 else { return false }
        return type.elementsEqualBytes("point")
    }

    /// The coordinate of a GeoPoint in a stored document, nil for any other value.
    public static func coordinate(of value: JSONView) -> Coordinate? {
        guard isClaimed(by: value), let latitude = value["lat"]?.number,
            let longitude = value["lon"]?.number
        else { return nil }
        return Coordinate(validLatitude: latitude.double, longitude: longitude.double)
    }

    /// Where a field's value in a stored document is: the coordinate of a GeoPoint, or those of the
    /// GeoPoints among an array's elements. Empty for any other value.
    public static func coordinates(of value: JSONView) -> [Coordinate] {
        value.kind == .array
            ? value.elements.compactMap(coordinate) : coordinate(of: value).map { [$0] } ?? []
    }

    /// The coordinate of a value that must be a GeoPoint; throws what is wrong, and where.
    public static func validate(_ value: JSONView) throws(ServiceFailure) -> Coordinate {
        guard isClaimed(by: value) else {
            throw ServiceFailure(
                .invalidInputData,
                "expected a GeoPoint: {\"_type\":\"point\",\"lat\":…,\"lon\":…}")
        }
        for member in value.members {
            let name = member.name
            guard
                name.elementsEqualBytes("lat") || name.elementsEqualBytes("lon")
                    || name.elementsEqualBytes("_type")
            else {
                let text = String(decoding: name, as: UTF8.self)
                throw ServiceFailure(
                    .invalidInputData, "a GeoPoint has no member \(quoted(text))",
                    at: shortened(text))
            }
        }
        func member(_ name: StaticString, _ bound: Double) throws(ServiceFailure) -> Double {
            guard let member = value[name] else {
                throw ServiceFailure(
                    .invalidInputData, "a GeoPoint needs \"lat\" and \"lon\", in degrees",
                    at: name.description)
            }
            return try degrees(member, bound, at: name.description)
        }
        let latitude = try member("lat", 90)
        return Coordinate(latitude: latitude, longitude: try member("lon", 180))
    }

    /// A value that must be a latitude (bound 90) or a longitude (bound 180).
    public static func degrees(
        _ value: JSONView, _ bound: Double, at path: @autoclosure () -> String
    ) throws(ServiceFailure) -> Double {
        guard value.kind == .huge || value.number != nil else {
            throw ServiceFailure(
                .invalidInputData,
                "expected a number of degrees from -\(Int(bound)) to \(Int(bound))", at: path())
        }
        guard let degrees = value.number?.double, abs(degrees) <= bound else {
            let text = String(decoding: value.text.prefix(40), as: UTF8.self)
            throw ServiceFailure(
                .invalidInputData,
                "\(bound == 90 ? "latitude" : "longitude") \(text) is outside -\(Int(bound))...\(Int(bound)) degrees",
                at: path())
        }
        return degrees
    }
}

/// A GeoPoint and its path in its object. An array with several GeoPoints is several at one path.
public struct FieldPoint: Sendable, Hashable {
    /// Where in the object the point is.
    public let field: FieldPath
    /// Degrees, as the object has them.
    public let coordinate: Coordinate

    /// A point at a path, which may be nested but does not lead through arrays.
    public init(field: FieldPath, coordinate: Coordinate) {
        self.field = field
        self.coordinate = coordinate
    }

    /// The GeoPoints of an object that a field path can name, at any depth: its own and those in its
    /// array. The points of one path follow each other, in the order of the array.
    ///
    /// If the last of nested duplicates, or a first-level name with dots, hides another value, only
    /// the one that a query would see counts.
    ///
    /// - Parameter limit: the search stops after this many paths.
    /// - Complexity: O(values), and the length of the path for each path.
    public static func all(in object: JSONView, atMost limit: Int = .max) -> [FieldPoint] {
        var search = Search(top: object, limit: limit)
        search.collect(object)
        return search.found
    }

    /// Calls `body` with each field path and its points.
    @inlinable
    public static func forEachField<Failure: Error>(
        of points: [FieldPoint],
        _ body: (FieldPath, ArraySlice<FieldPoint>) throws(Failure) -> Void
    ) throws(Failure) {
        var rest = points[...]
        while let field = rest.first?.field {
            let next = rest.firstIndex { $0.field != field } ?? rest.endIndex
            try body(field, rest[..<next])
            rest = rest[next...]
        }
    }

    /// A walk through an object.
    private struct Search {
        let top: JSONView
        let limit: Int
        var found: [FieldPoint] = []
        /// The number of paths of the points found.
        private var paths = 0
        /// The names that lead to the present object.
        private var names: [UnsafeBufferPointer<UInt8>] = []
        /// First-level names with dots, which hide what lies deeper; nil until it matters.
        private var dottedNames: Set<[UInt8]>?

        init(top: JSONView, limit: Int) {
            self.top = top
            self.limit = limit
        }

        mutating func collect(_ object: JSONView) {
            var hidden: Set<Int>?
            for (position, member) in zip(0..., object.members)
            where member.value.kind == .object || member.value.kind == .array {
                guard paths < limit else { return }
                // What the service drops is at no field path.
                if names.isEmpty, WrittenName(member.name) != .user { continue }
                let dotted = member.name.contains(UInt8(ascii: "."))
                if dotted && !names.isEmpty { continue }  // no path leads there
                let (before, pathsBefore) = (found.count, paths)
                names.append(member.name)
                if member.value.kind == .array {
                    add(GeoPoint.coordinates(of: member.value))
                } else if let coordinate = GeoPoint.coordinate(of: member.value) {
                    add(CollectionOfOne(coordinate))
                } else if !dotted {
                    collect(member.value)
                }
                names.removeLast()
                guard found.count > before else { continue }
                if hidden == nil { hidden = object.hiddenMembers() }
                if hidden!.contains(position) {
                    found.removeLast(found.count - before)
                    paths = pathsBefore
                }
            }
        }

        private mutating func add(_ points: some Collection<Coordinate>) {
            guard !points.isEmpty else { return }
            let path = Array(names.joined(separator: [UInt8(ascii: ".")]))
            if names.count > 1 {
                if dottedNames == nil { dottedNames = Self.dottedNames(of: top) }
                if dottedNames!.contains(path) { return }
            }
            let field = FieldPath(utf8: path)
            paths += 1
            for point in points { found.append(FieldPoint(field: field, coordinate: point)) }
        }

        private static func dottedNames(of object: JSONView) -> Set<[UInt8]> {
            Set(
                object.members.lazy.map(\.name).filter { $0.contains(UInt8(ascii: ".")) }.map {
                    Array($0)
                })
        }
    }
}
