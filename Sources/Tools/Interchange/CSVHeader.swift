import Objects

/// The meaning of each column of a table, determined once from its header row.
///
/// Two columns `F.lat` and `F.lon` are the GeoPoint `F`, as the CSV writer spells it. A column `F`
/// may be beside them for objects with another value in `F`. Options name the columns of one more
/// point. A column with an empty name has it in quotes.
struct CSVHeader {
    enum Role {
        /// An ordinary field.
        case field
        case id
        /// The first column of a point; index into `points`.
        case point(Int)
        /// The other column of a point, which is read with the first.
        case otherHalf
    }

    struct Column {
        let name: String
        var role = Role.field
        /// `"name":` as JSON text.
        let key: [UInt8]
        /// A point of the same name, as an index into `points`: a record has one or the other.
        var rival: Int?
    }

    struct Point {
        let latitude: Int
        let longitude: Int
        /// `"field":` as JSON text.
        let key: [UInt8]
        /// Whether the point's name comes from the names of its columns.
        let isSuffixed: Bool
    }

    private(set) var columns: [Column]
    private(set) var points: [Point] = []

    /// - Parameter names: nil for an empty cell without quotes.
    /// - Throws: for missing, duplicate or reserved names, and for options that name no column.
    init(names: [String?], options: ReadingOptions) throws(InterchangeError) {
        if let missing = names.firstIndex(where: { $0 == nil }) {
            throw InterchangeError("column \(missing + 1) of the header has no name")
        }
        columns = names.compactMap { $0 }.map { Column(name: $0, key: Self.key($0)) }
        try takeID(options.idColumn)
        try takePoint(options)
        takeSuffixedPoints()
        try checkNames()
    }

    private mutating func takeID(_ option: String?) throws(InterchangeError) {
        if let option {
            let column = try index(of: option, "the id")
            guard option == "_id" || !has("_id") else {
                throw InterchangeError(
                    "the id cannot be both of the columns _id and \(quoted(option))")
            }
            columns[column].role = .id
        } else if let column = columns.firstIndex(where: { Self.isSame($0.name, "_id") }) {
            columns[column].role = .id
        }
    }

    private mutating func takePoint(_ options: ReadingOptions) throws(InterchangeError) {
        switch (options.latitudeColumn, options.longitudeColumn) {
        case (nil, nil): return
        case (let latitude?, let longitude?):
            let latitude = try index(of: latitude, "the latitude")
            let longitude = try index(of: longitude, "the longitude")
            guard case .field = columns[latitude].role, case .field = columns[longitude].role,
                latitude != longitude
            else {
                throw InterchangeError("latitude, longitude and id have to be different columns")
            }
            take(latitude, longitude, as: options.pointField, isSuffixed: false)
        case (_, nil), (nil, _):
            throw InterchangeError("a point needs both a latitude and a longitude column")
        }
    }

    private mutating func takeSuffixedPoints() {
        for latitude in columns.indices {
            let name = columns[latitude].name
            guard case .field = columns[latitude].role, name.hasSuffix(".lat")
            else { continue }
            let field = String(name.dropLast(4))
            let other = field + ".lon"
            guard let longitude = columns.firstIndex(where: { Self.isSame($0.name, other) }),
                case .field = columns[longitude].role
            else { continue }
            take(latitude, longitude, as: field, isSuffixed: true)
        }
    }

    private mutating func take(
        _ latitude: Int, _ longitude: Int, as field: String, isSuffixed: Bool
    ) {
        columns[min(latitude, longitude)].role = .point(points.count)
        columns[max(latitude, longitude)].role = .otherHalf
        points.append(
            Point(
                latitude: latitude, longitude: longitude, key: Self.key(field),
                isSuffixed: isSuffixed))
    }

    /// Checks that the members' names are valid and occur once each.
    private mutating func checkNames() throws(InterchangeError) {
        var seen: Set<[UInt8]> = []
        for column in columns {
            guard seen.insert(Array(column.name.utf8)).inserted else {
                throw InterchangeError("the header has the column \(quoted(column.name)) twice")
            }
        }
        var members: [[UInt8]: Int] = [:]
        for (index, column) in zip(0..., columns) {
            if case .field = column.role {
                try Self.checkName(column.name)
                members[column.key] = index
            }
        }
        try checkPoints(besides: members)
    }

    /// Predefined names are accepted: the service drops them, as from any written object.
    private static func checkName(_ name: String) throws(InterchangeError) {
        guard
            !name.hasPrefix("_") || name == "_calculated" || PredefinedField(rawValue: name) != nil
        else {
            throw InterchangeError(
                "the column \(quoted(name)) cannot be loaded: names that begin with '_' are the "
                    + "service's own")
        }
    }

    /// - Parameter members: the columns of ordinary fields by their keys.
    private mutating func checkPoints(besides members: [[UInt8]: Int]) throws(InterchangeError) {
        var keys: Set<[UInt8]> = []
        for (index, point) in zip(0..., points) {
            let name = String(decoding: point.key.dropLast(), as: UTF8.self)
            let rival = members[point.key]
            guard keys.insert(point.key).inserted, rival == nil || point.isSuffixed else {
                throw InterchangeError(
                    "the point and another column are both called \(name); --point names the point")
            }
            guard !name.hasPrefix("\"_") else {
                throw InterchangeError("a point cannot be called \(name): it begins with '_'")
            }
            if let rival { columns[rival].rival = index }
        }
    }

    private func index(of name: String, _ what: String) throws(InterchangeError) -> Int {
        if let index = columns.firstIndex(where: { Self.isSame($0.name, name) }) { return index }
        let known = columns.map { quoted($0.name) }.joined(separator: ", ")
        throw InterchangeError("no column \(quoted(name)) for \(what); there are \(known)")
    }

    private func has(_ name: String) -> Bool { columns.contains { Self.isSame($0.name, name) } }

    /// As code points, unlike `String`'s `==`.
    private static func isSame(_ a: String, _ b: String) -> Bool { a.utf8.elementsEqual(b.utf8) }

    private static func key(_ name: String) -> [UInt8] {
        var key: [UInt8] = []
        JSONSpelling.appendString(name, to: &key)
        return key + [UInt8(ascii: ":")]
    }
}
