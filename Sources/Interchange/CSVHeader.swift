import Objects

/// What each column of a table means, worked out once from its header row.
///
/// Two columns `F.lat` and `F.lon` are the GeoPoint `F`, as the CSV writer spells it; options name
/// the columns of one more.
struct CSVHeader {
    enum Role {
        /// An ordinary field.
        case field
        case id
        /// The first column of a point; index into `points`.
        case point(Int)
        /// The other column of a point, told with the first.
        case otherHalf
    }

    struct Column {
        let name: String
        var role = Role.field
        /// `"name":` as JSON has it.
        let key: [UInt8]
    }

    struct Point {
        let latitude: Int
        let longitude: Int
        /// `"field":{"_type":"point","lat":` as JSON has it.
        let key: [UInt8]
    }

    private(set) var columns: [Column]
    private(set) var points: [Point] = []

    /// - Throws: empty, duplicate or reserved names, and options that name no column.
    init(names: [String], options: ReadingOptions) throws(InterchangeError) {
        columns = names.map { Column(name: $0, key: Self.key($0)) }
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
            take(latitude, longitude, as: options.pointField)
        case (_, nil), (nil, _):
            throw InterchangeError("a point needs both a latitude and a longitude column")
        }
    }

    private mutating func takeSuffixedPoints() {
        for latitude in columns.indices {
            let name = columns[latitude].name
            guard case .field = columns[latitude].role, name.hasSuffix(".lat"), name.count > 4
            else {
                continue
            }
            let field = String(name.dropLast(4))
            let other = field + ".lon"
            guard let longitude = columns.firstIndex(where: { Self.isSame($0.name, other) }),
                case .field = columns[longitude].role
            else { continue }
            take(latitude, longitude, as: field)
        }
    }

    private mutating func take(_ latitude: Int, _ longitude: Int, as field: String) {
        columns[min(latitude, longitude)].role = .point(points.count)
        columns[max(latitude, longitude)].role = .otherHalf
        let key = Self.key(field) + Array("{\"_type\":\"point\",\"lat\":".utf8)
        points.append(Point(latitude: latitude, longitude: longitude, key: key))
    }

    /// Refuses what would not be a valid object: the names of all members, each once.
    private func checkNames() throws(InterchangeError) {
        var seen: Set<[UInt8]> = []
        for (number, column) in zip(1..., columns) {
            guard !column.name.isEmpty else {
                throw InterchangeError("column \(number) of the header has no name")
            }
            guard seen.insert(Array(column.name.utf8)).inserted else {
                throw InterchangeError("the header has the column \(quoted(column.name)) twice")
            }
        }
        try checkMembers()
    }

    private func checkMembers() throws(InterchangeError) {
        var members: Set<[UInt8]> = []
        for column in columns {
            if case .field = column.role {
                // Predefined ones go along: the service drops them, as from any written object.
                guard
                    !column.name.hasPrefix("_") || column.name == "_calculated"
                        || PredefinedField(rawValue: column.name) != nil
                else {
                    throw InterchangeError(
                        "the column \(quoted(column.name)) cannot be loaded: names that begin with "
                            + "'_' are the service's own")
                }
                members.insert(column.key)
            }
        }
        for point in points {
            let key = Array(point.key.dropLast("{\"_type\":\"point\",\"lat\":".utf8.count))
            let name = String(decoding: key.dropLast(), as: UTF8.self)
            guard members.insert(key).inserted else {
                throw InterchangeError("the point and another column are both called \(name)")
            }
            guard !name.hasPrefix("\"_") else {
                throw InterchangeError("a point cannot be called \(name): it begins with '_'")
            }
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
