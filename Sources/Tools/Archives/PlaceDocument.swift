import JSONText

/// The places of a GPX or KML document as GeoJSON Features: waypoints, and placemarks with points,
/// lines and areas.
///
/// - Complexity: memory for the document and its features.
public struct PlaceDocument {
    /// In the order of the document.
    public private(set) var features: [JSONValue] = []
    /// Tracks and routes of GPX, which are no features here.
    public private(set) var others = 0

    private static let mostLevels = 200

    /// Reads a document in UTF-8 or UTF-16.
    ///
    /// - Throws: `ArchiveFailure` for what is no XML of this kind, with its line.
    public init(_ bytes: [UInt8]) throws(ArchiveFailure) {
        var scanner = XMLScanner(try XMLEncoding.utf8(bytes), what: "document")
        var open: [XMLElement] = []
        repeat {
            if !open.isEmpty { open[open.count - 1].text += try scanner.text() }
            guard let tag = try scanner.tag() else { throw scanner.fault("it is cut off") }
            switch tag {
            case .start(let name, let isEmpty):
                guard open.count < Self.mostLevels else {
                    throw scanner.fault("it is nested deeper than \(Self.mostLevels) levels")
                }
                open.append(XMLElement(name, try scanner.attributes()))
                if isEmpty { try close(&open, scanner) }
            case .end(let name):
                guard open.last?.name == XMLElement.localName(name) else {
                    throw scanner.fault("unexpected </\(name.prefix(40))>")
                }
                try close(&open, scanner)
            }
        } while !open.isEmpty
    }

    private mutating func close(
        _ open: inout [XMLElement], _ scanner: XMLScanner
    ) throws(ArchiveFailure) {
        let element = open.removeLast()
        switch element.name {
        case "wpt": features.append(try waypoint(element, scanner))
        case "Placemark": features.append(try placemark(element, scanner))
        case "trk", "rte": others += 1
        // What is not inside a feature is not kept.
        case _ where !open.contains(where: { ["wpt", "Placemark"].contains($0.name) }): return
        default: if !open.isEmpty { open[open.count - 1].children.append(element) }
        }
    }

    private static func feature(
        _ properties: [JSONValue.Member], _ geometry: JSONValue, id: String? = nil
    ) -> JSONValue {
        var members: [JSONValue.Member] = [JSONValue.Member("type", .string("Feature"))]
        if let id { members.append(JSONValue.Member("id", .string(id))) }
        members.append(JSONValue.Member("geometry", geometry))
        members.append(JSONValue.Member("properties", .object(unique(properties))))
        return .object(members)
    }

    /// Of members of one name the first, the others with numbers behind their names.
    private static func unique(_ members: [JSONValue.Member]) -> [JSONValue.Member] {
        var counts: [String: Int] = [:]
        return members.map { member in
            counts[member.name, default: 0] += 1
            let count = counts[member.name]!
            return count == 1 ? member : JSONValue.Member("\(member.name)\(count)", member.value)
        }
    }

    // MARK: GPX

    private func waypoint(
        _ element: XMLElement, _ scanner: XMLScanner
    ) throws(ArchiveFailure) -> JSONValue {
        guard let latitude = element.attributes["lat"].flatMap(Double.init),
            let longitude = element.attributes["lon"].flatMap(Double.init),
            latitude.isFinite, longitude.isFinite
        else { throw scanner.fault("a wpt has no lat and lon, which are numbers") }
        var properties: [JSONValue.Member] = []
        for child in element.children {
            if child.name == "link", let href = child.attributes["href"] {
                properties.append(JSONValue.Member("link", .string(href)))
            } else if child.name == "ele", let meters = Double(child.content), meters.isFinite {
                properties.append(JSONValue.Member("ele", .double(meters)))
            } else {
                properties += child.leaves
            }
        }
        return Self.feature(
            properties,
            .object([
                "type": .string("Point"),
                "coordinates": .array([.double(longitude), .double(latitude)]),
            ]))
    }

    // MARK: KML

    private func placemark(
        _ element: XMLElement, _ scanner: XMLScanner
    ) throws(ArchiveFailure) -> JSONValue {
        var properties: [JSONValue.Member] = []
        var geometries: [JSONValue] = []
        for child in element.children {
            if let geometry = try geometry(child, scanner) {
                geometries.append(geometry)
            } else if child.name == "ExtendedData" {
                properties += Self.extendedData(child)
            } else if child.name != "Style" && child.name != "StyleMap" {
                properties += child.leaves
            }
        }
        let geometry: JSONValue =
            geometries.count > 1
            ? Self.collection(geometries) : geometries.first ?? .null
        return Self.feature(properties, geometry, id: element.attributes["id"])
    }

    private static func extendedData(_ element: XMLElement) -> [JSONValue.Member] {
        element.children.flatMap { child -> [JSONValue.Member] in
            switch child.name {
            case "Data":
                let value = child.children.first { $0.name == "value" }?.content ?? ""
                return [JSONValue.Member(child.attributes["name"] ?? "Data", .string(value))]
            case "SchemaData": return extendedData(child)
            case "SimpleData":
                return [
                    JSONValue.Member(
                        child.attributes["name"] ?? "SimpleData", .string(child.content))
                ]
            default: return child.leaves
            }
        }
    }

    private static func collection(_ geometries: [JSONValue]) -> JSONValue {
        .object(["type": .string("GeometryCollection"), "geometries": .array(geometries)])
    }

    private func geometry(
        _ element: XMLElement, _ scanner: XMLScanner
    ) throws(ArchiveFailure) -> JSONValue? {
        func object(_ type: String, _ coordinates: JSONValue) -> JSONValue {
            .object(["type": .string(type), "coordinates": coordinates])
        }
        switch element.name {
        case "Point":
            guard let position = try positions(element, scanner).first else {
                throw scanner.fault("a Point has no coordinates")
            }
            return object("Point", position)
        case "LineString": return object("LineString", .array(try positions(element, scanner)))
        case "LinearRing":
            return object("Polygon", .array([.array(try positions(element, scanner))]))
        case "Polygon":
            var rings: [JSONValue] = []
            for boundary in element.children where boundary.name.hasSuffix("BoundaryIs") {
                for ring in boundary.children {
                    rings.append(.array(try positions(ring, scanner)))
                }
            }
            return object("Polygon", .array(rings))
        case "MultiGeometry":
            var parts: [JSONValue] = []
            for child in element.children {
                if let part = try geometry(child, scanner) { parts.append(part) }
            }
            return parts.count == 1 ? parts[0] : Self.collection(parts)
        default: return nil
        }
    }

    /// Longitude, latitude and an altitude that is not 0, which is where there is none.
    private func positions(
        _ element: XMLElement, _ scanner: XMLScanner
    ) throws(ArchiveFailure) -> [JSONValue] {
        let text = element.children.first { $0.name == "coordinates" }?.text ?? ""
        var positions: [JSONValue] = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            let numbers = word.split(separator: ",").map { Double($0) }
            guard (2...3).contains(numbers.count),
                numbers.allSatisfy({ $0?.isFinite ?? false })
            else { throw scanner.fault("\"\(word.prefix(40))\" is no position") }
            let kept = numbers.count == 3 && numbers[2] == 0 ? numbers.dropLast() : numbers[...]
            positions.append(.array(kept.map { .double($0!) }))
        }
        return positions
    }
}

/// An element that has been read whole.
private struct XMLElement {
    /// Without its namespace's prefix.
    let name: String
    let attributes: [String: String]
    var text = ""
    var children: [XMLElement] = []

    init(_ name: String, _ attributes: [String: String]) {
        (self.name, self.attributes) = (Self.localName(name), attributes)
    }

    static func localName(_ name: String) -> String {
        name.split(separator: ":").last.map(String.init) ?? name
    }

    /// The text without white space around it.
    var content: String {
        let kept = text.drop { $0.isWhitespace }
        return String(kept.reversed().drop { $0.isWhitespace }.reversed())
    }

    /// The texts of the elements without children, as members of an object.
    var leaves: [JSONValue.Member] {
        guard children.isEmpty else { return children.flatMap(\.leaves) }
        return content.isEmpty ? [] : [JSONValue.Member(name, .string(content))]
    }
}
