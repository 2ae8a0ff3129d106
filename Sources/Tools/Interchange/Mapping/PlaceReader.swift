import CGeographicLib
import JSONText
import Objects

/// Reads positions in all the forms that people have them in.
final class PlaceReader {
    /// A position as it was found, in the order of its reference system.
    struct Position {
        var x: Double
        var y: Double
        /// The spelling of JSON numbers, which stays where nothing is converted.
        var xText: [UInt8]?
        var yText: [UInt8]?
        /// What follows them in an array.
        var altitude: [UInt8]?
    }

    /// What a value is.
    enum Found {
        case nothing
        /// A GeoPoint of the service: it stays as it is.
        case own
        case point(Position, ReferenceSystem?)
        case points([Position], ReferenceSystem?)
    }

    private let geometries = GeometryText()
    private let rule: GeometryRule

    init(_ rule: GeometryRule) { self.rule = rule }

    /// The place that the values at the paths of a rule are.
    func read(_ rule: PlaceRule, _ values: [JSONView?]) throws(RecordError) -> Found {
        switch rule.source {
        case .pair(let latitude, let longitude):
            try pair(values[0], values[1], (latitude, longitude))
        case .value: try value(values[0])
        case .ordered(_, _, let latitudeFirst):
            try value(values[0], latitudeFirst: latitudeFirst)
        }
    }

    // MARK: Two fields

    /// - Throws: for half a pair, and for what is no number of degrees.
    func pair(
        _ latitude: JSONView?, _ longitude: JSONView?, _ names: (String, String)
    ) throws(RecordError) -> Found {
        let y = try number(latitude, at: names.0)
        let x = try number(longitude, at: names.1)
        switch (y, x) {
        case (nil, nil): return .nothing
        case (nil, _): throw Self.half(names.0)
        case (_, nil): throw Self.half(names.1)
        case (let y?, let x?):
            return .point(
                Position(x: x.value, y: y.value, xText: x.text, yText: y.text), nil)
        }
    }

    private static func half(_ path: String) -> RecordError {
        RecordError("half a point: this is empty, its other half is not", path: path)
    }

    private func number(
        _ view: JSONView?, at path: String
    ) throws(RecordError) -> (value: Double, text: [UInt8]?)? {
        guard let view, view.kind != .null else { return nil }
        if let number = view.number { return (number.double, Array(view.text)) }
        guard let text = view.string?.trimmingSpaces, view.kind == .string else {
            throw RecordError("\(quoted(view.text.text)) is no number of degrees", path: path)
        }
        if text.isEmpty { return nil }
        guard let value = Self.decimal(text) ?? Self.sexagesimal(text)?.degrees else {
            throw RecordError("\(quoted(text)) is no number of degrees", path: path)
        }
        return (value, nil)
    }

    // MARK: One field

    /// The place that a value is.
    ///
    /// - Parameter latitudeFirst: the order of texts and arrays; nil is the usual one: texts begin
    ///   with the latitude, arrays with the longitude.
    func value(_ view: JSONView?, latitudeFirst: Bool? = nil) throws(RecordError) -> Found {
        guard let view else { return .nothing }
        switch view.kind {
        case .null: return .nothing
        case .string: return try text(view.string!.trimmingSpaces, latitudeFirst)
        case .array: return try array(view, latitudeFirst ?? false)
        case .object: return try object(view, latitudeFirst)
        case .bool, .number, .huge: throw Self.noPlace(view)
        }
    }

    private static func noPlace(_ view: JSONView) -> RecordError {
        RecordError("\(String(view.text.text.prefix(60))) is no place")
    }

    private func array(_ view: JSONView, _ latitudeFirst: Bool) throws(RecordError) -> Found {
        // Elements that are places themselves: an array of GeoPoints, or a way's geometry.
        if view.elements.contains(where: { GeoPoint.isClaimed(by: $0) }) { return .own }
        if view.count > 1, let line = Self.line(view) { return try read(line, .wkt) }
        guard let position = Self.position(view, latitudeFirst) else { throw Self.noPlace(view) }
        return .point(position, nil)
    }

    /// The well-known text of positions that are objects, as OpenStreetMap writes ways; an area if
    /// the last is the first.
    private static func line(_ view: JSONView) -> String? {
        var positions: [String] = []
        for element in view.elements {
            guard let y = element["lat"]?.number, let x = element["lon"]?.number else { return nil }
            positions.append("\(x.double) \(y.double)")
        }
        let list = positions.joined(separator: ", ")
        let isRing = positions.count > 3 && positions.first == positions.last
        return isRing ? "POLYGON((\(list)))" : "LINESTRING(\(list))"
    }

    /// Two numbers or three.
    static func position(_ view: JSONView, _ latitudeFirst: Bool) -> Position? {
        guard view.kind == .array, (2...3).contains(view.count) else { return nil }
        let numbers = Array(view.elements)
        guard numbers.allSatisfy({ $0.number != nil }) else { return nil }
        let (x, y) = latitudeFirst ? (numbers[1], numbers[0]) : (numbers[0], numbers[1])
        return Position(
            x: x.number!.double, y: y.number!.double, xText: Array(x.text), yText: Array(y.text),
            altitude: numbers.count == 3 ? Array(numbers[2].text) : nil)
    }

    private static let names: [(latitude: StaticString, longitude: StaticString)] = [
        ("lat", "lon"), ("lat", "lng"), ("latitude", "longitude"), ("_latitude", "_longitude"),
        ("lat", "long"), ("y", "x"),
    ]

    private static let geometryTypes: Set<String> = [
        "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon",
        "GeometryCollection",
    ]

    private func object(_ view: JSONView, _ latitudeFirst: Bool?) throws(RecordError) -> Found {
        if GeoPoint.isClaimed(by: view) { return .own }
        if let type = view["type"]?.string, Self.geometryTypes.contains(type) {
            return try geometry(view, latitudeFirst ?? false)
        }
        if view["__datatype__"]?.string == "geopoint", let inner = view["value"] {
            return try value(inner)
        }
        for (latitude, longitude) in Self.names {
            guard let y = view[latitude], let x = view[longitude] else { continue }
            return try pair(y, x, (latitude.description, longitude.description))
        }
        throw Self.noPlace(view)
    }

    private func geometry(_ view: JSONView, _ latitudeFirst: Bool) throws(RecordError) -> Found {
        let coordinates = view["coordinates"]
        switch view["type"]?.string {
        case "Point":
            if coordinates?.kind == .array, coordinates?.count == 0 { return .nothing }
            guard let position = coordinates.flatMap({ Self.position($0, latitudeFirst) }) else {
                throw RecordError(
                    "expected [longitude, latitude] or with altitude", path: "coordinates")
            }
            return .point(position, nil)
        case "MultiPoint":
            guard let coordinates, coordinates.kind == .array else {
                throw RecordError("expected an array of positions", path: "coordinates")
            }
            var positions: [Position] = []
            for (index, element) in zip(0..., coordinates.elements) {
                guard let position = Self.position(element, latitudeFirst) else {
                    throw RecordError(
                        "expected [longitude, latitude]", path: "coordinates[\(index)]")
                }
                guard position.altitude == nil else {
                    throw RecordError(
                        "a position of a MultiPoint can have no altitude",
                        path: "coordinates[\(index)]")
                }
                positions.append(position)
            }
            return .points(positions, nil)
        default: return try read(view.text.text, .geoJSON)
        }
    }

    private func read(
        _ text: String, _ spelling: GeometryText.Spelling
    ) throws(RecordError) -> Found {
        let found = try geometries.read(text, spelling, rule)
        var system: ReferenceSystem?
        if found.srid != 0 {
            system = ReferenceSystem(code: found.srid)
            guard system != nil else {
                throw RecordError(ReferenceSystem.refusal("EPSG:\(found.srid)"))
            }
        }
        let positions = found.positions.map { Position(x: $0.x, y: $0.y) }
        if found.type == "MultiPoint" { return .points(positions, system) }
        return positions.first.map { .point($0, system) } ?? .nothing
    }

    // MARK: Text

    private func text(_ text: String, _ latitudeFirst: Bool?) throws(RecordError) -> Found {
        if text.isEmpty { return .nothing }
        if let position = Self.numbers(text, latitudeFirst ?? true) { return .point(position, nil) }
        if Self.looksLikeWKT(text) { return try read(text, .wkt) }
        if text.hasPrefix("{") || text.hasPrefix("[") { return try json(text, latitudeFirst) }
        if Self.looksLikeWKB(text) { return try read(text, .hexadecimal) }
        if let position = Self.sexagesimals(text) { return .point(position, nil) }
        if let position = Self.geohash(text) { return .point(position, nil) }
        throw RecordError("\(quoted(text)) is no place")
    }

    private func json(_ text: String, _ latitudeFirst: Bool?) throws(RecordError) -> Found {
        let parser = JSONParser()
        return try withExtendedLifetime(parser) { () throws(RecordError) in
            guard let view = try? parser.parse(Array(text.utf8)) else {
                throw RecordError("\(quoted(text)) is no place")
            }
            guard case .own = try value(view, latitudeFirst: latitudeFirst) else {
                return try value(view, latitudeFirst: latitudeFirst)
            }
            // A GeoPoint inside a text has to be written anew.
            return try pair(view["lat"], view["lon"], ("lat", "lon"))
        }
    }

    /// `48.5, 2.25`, `48.5 2.25`, `(48.5,2.25)`, `48,5; 2,25` or `geo:48.5,2.25`.
    static func numbers(_ text: String, _ latitudeFirst: Bool) -> Position? {
        var inner = Substring(text)
        if inner.hasPrefix("geo:") { inner = inner.dropFirst(4).prefix { $0 != ";" && $0 != "?" } }
        let brackets: [Character: Character] = ["(": ")", "[": "]"]
        if let first = inner.first, let closing = brackets[first], inner.last == closing {
            inner = inner.dropFirst().dropLast()
        }
        let separator: Character =
            inner.contains(";")
            ? ";" : inner.contains(",") ? "," : inner.contains("\t") ? "\t" : " "
        let parts = inner.split(separator: separator).map { String($0).trimmingSpaces }
        guard (2...3).contains(parts.count), let first = decimal(parts[0]),
            let second = decimal(parts[1]), parts.count == 2 || decimal(parts[2]) != nil
        else { return nil }
        return latitudeFirst ? Position(x: second, y: first) : Position(x: first, y: second)
    }

    /// A decimal number with a point or a comma, and a sign if there is one.
    static func decimal(_ text: String) -> Double? {
        guard let first = text.utf8.first, first < 0x3A, let last = text.utf8.last, last < 0x3A
        else { return nil }
        let points =
            text.utf8.contains(UInt8(ascii: ","))
            ? String(text.map { $0 == "," ? "." : $0 }) : text
        guard points.utf8.allSatisfy({ $0 < 0x3A || $0 | 0x20 == UInt8(ascii: "e") }) else {
            return nil
        }
        return Double(points).flatMap { $0.isFinite ? $0 : nil }
    }

    /// An angle such as `48°51'24"N`, `48 51 24 N` or `N 48° 51.4`, and whether it is marked as a
    /// latitude.
    static func sexagesimal(_ text: String) -> (degrees: Double, isLatitude: Bool?)? {
        // Between two numbers a blank is as good as a colon; beside a mark it says nothing.
        let dense = text.split(separator: " ").reduce(into: "") { dense, word in
            if dense.last?.isNumber ?? false, word.first!.isNumber { dense += ":" }
            dense += word
        }
        var (degrees, axis) = (0.0, Int32(0))
        guard gb_sexagesimal(dense, &degrees, &axis), degrees.isFinite else { return nil }
        return (degrees, axis == 0 ? nil : axis == 1)
    }

    /// Two angles, of which each is marked, or the first is the latitude.
    private static func sexagesimals(_ text: String) -> Position? {
        guard let cut = cut(text) else { return nil }
        let halves = [String(text[..<cut]), String(text[cut...])].map {
            String($0.drop { $0 == "," || $0 == ";" }).trimmingSpaces
        }
        guard let first = sexagesimal(halves[0]), let second = sexagesimal(halves[1]),
            first.isLatitude == nil || first.isLatitude != second.isLatitude
        else { return nil }
        return first.isLatitude ?? true
            ? Position(x: second.degrees, y: first.degrees)
            : Position(x: first.degrees, y: second.degrees)
    }

    /// Where the second angle begins: at a comma, else behind a letter of the compass.
    private static func cut(_ text: String) -> String.Index? {
        if let comma = text.firstIndex(where: { $0 == "," || $0 == ";" }) { return comma }
        let letters: Set<Character> = ["N", "S", "E", "W", "n", "s", "e", "w"]
        guard let letter = text.firstIndex(where: { letters.contains($0) }) else {
            let blanks = text.indices.filter { text[$0] == " " }
            return blanks.count == 1 ? blanks[0] : nil
        }
        let behind = text.index(after: letter)
        // A letter in front of its angle: `N 48° 51' E 2° 21'`.
        guard letter != text.startIndex else {
            return text[behind...].firstIndex { letters.contains($0) }
        }
        return behind
    }

    private static func geohash(_ text: String) -> Position? {
        guard (1...18).contains(text.utf8.count) else { return nil }
        var (latitude, longitude) = (0.0, 0.0)
        guard gb_geohash_center(text, &latitude, &longitude), latitude.isFinite else { return nil }
        return Position(x: longitude, y: latitude)
    }

    static func looksLikeWKT(_ text: String) -> Bool {
        let upper = text.prefix(40).uppercased()
        let types = ["POINT", "LINESTRING", "POLYGON", "MULTI", "GEOMETRYCOLLECTION", "SRID="]
        return types.contains { upper.hasPrefix($0) }
            && (text.contains("(") || upper.hasSuffix("EMPTY"))
    }

    static func looksLikeWKB(_ text: String) -> Bool {
        text.utf8.count >= 18 && (text.hasPrefix("00") || text.hasPrefix("01"))
            && text.utf8.allSatisfy { isHexadecimal($0) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
    }
}
