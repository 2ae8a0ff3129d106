import JSONText

/// The objects of an archive as documents for a bucket.
public struct ArchivedRecords: Sendable {
    /// Which values of the archive become objects, and how.
    public struct Options: Sendable {
        /// Top-level keys to read; if empty, the root or the only key is read.
        public var keys: [String] = []
        /// Pairs of fields that become GeoPoints, in the order in which they are replaced.
        public var geoPoints: [PointMapping] = []
        /// Removes underscores at the beginning of field names, except in GeoPoints, because
        /// first-level names with one are reserved.
        public var stripsUnderscores = false
        /// The field for a value that is not an object; nil refuses such values.
        public var valueField: String?
        /// The field whose string or whole number becomes the object's `_id`.
        public var idField: String?
        /// How instances of classes become JSON, and what reading may cost.
        public var archive = KeyedArchive.Options()

        /// Reads the root's objects and leaves their fields as archived.
        public init() {}
    }

    /// Two fields of degrees that become one GeoPoint.
    public struct PointMapping: Sendable, Equatable {
        /// The path of the field with the latitude.
        public var latitude: String
        /// The path of the field with the longitude.
        public var longitude: String
        /// The field that receives the point.
        public var field: String

        /// Field paths may be nested: `position.lat`.
        public init(latitude: String, longitude: String, field: String) {
            self.latitude = latitude
            self.longitude = longitude
            self.field = field
        }
    }

    /// How many members were left out because they refer back: see
    /// `KeyedArchive.Options.cutsReferences`.
    public let cutReferences: Int
    private let values: [(path: String, value: Result<JSONValue, ArchiveFailure>)]
    private let options: Options

    /// Reads an archive: a top-level array or set becomes many objects, any other value one. Of a
    /// property list that is no archive, the elements of an array become objects, and the values of
    /// a dictionary of dictionaries, with their keys as `_id`.
    ///
    /// - Throws: `ArchiveFailure` for the file as a whole.
    public init(_ bytes: [UInt8], options: Options = Options()) throws(ArchiveFailure) {
        if let plain = try PlainPropertyList(bytes, options: options) {
            guard let archived = plain.archive else {
                (values, cutReferences, self.options) = (plain.values, 0, options)
                return
            }
            var inner = options
            inner.keys = []
            self = try ArchivedRecords(archived, options: inner)
            return
        }
        let archive = try KeyedArchive(bytes, options: options.archive)
        var values: [(String, Result<JSONValue, ArchiveFailure>)] = []
        var cutReferences = 0
        for key in try Self.keys(archive, options.keys) {
            values += try archive.elements(forKey: key, cutReferences: &cutReferences)
        }
        self.values = values
        self.cutReferences = cutReferences
        self.options = options
    }

    private static func keys(
        _ archive: KeyedArchive, _ named: [String]
    ) throws(ArchiveFailure) -> [String] {
        if !named.isEmpty { return named }
        if archive.keys.contains("root") { return ["root"] }
        guard archive.keys.count == 1 else {
            throw ArchiveFailure(
                archive.keys.isEmpty
                    ? "nothing was encoded at the archive's top"
                    : "the archive has no root; name one of its keys: \(archive.keyList)")
        }
        return archive.keys
    }

    /// The number of objects, including those that cannot be read.
    public var count: Int { values.count }

    /// One object as a document to write.
    ///
    /// - Throws: `ArchiveFailure` for a value that cannot be read or is not an object, and for
    ///   points out of range.
    public func document(at index: Int) throws(ArchiveFailure) -> JSONValue {
        let path = values[index].path
        var document = try object(try values[index].value.get(), path)
        do throws(ArchiveFailure) {
            if options.stripsUnderscores { document = try document.withoutUnderscores() }
            for mapping in options.geoPoints { try mapping.apply(to: &document) }
        } catch {
            throw ArchiveFailure(error.message, at: path + (error.path.map { ".\($0)" } ?? ""))
        }
        guard let idField = options.idField else { return document }
        let id: JSONValue
        switch document.value(atPath: idField) {
        case .string(let text)?: id = .string(text)
        case .number(let number)? where number.isWhole:
            // One spelling, whether it was stored as an integer or as a real.
            id = .string(number.exactInt.map { "\($0)" } ?? JSONValue.number(number).text)
        default:
            throw ArchiveFailure("expected a string or a whole number", at: "\(path).\(idField)")
        }
        return .object(
            [JSONValue.Member("_id", id)] + document.members.filter { $0.name != "_id" })
    }
}

extension ArchivedRecords {
    private func object(
        _ value: JSONValue, _ path: String
    ) throws(ArchiveFailure) -> JSONValue {
        if case .object = value { return value }
        guard let field = options.valueField else {
            throw ArchiveFailure(
                "is no object but \(value.kindName); --value FIELD makes it a field of one",
                at: path)
        }
        return .object([JSONValue.Member(field, value)])
    }
}

/// GeoPoints from fields of degrees.
enum ArchivedPoint {
    static func value(_ latitude: Double, _ longitude: Double) throws(ArchiveFailure) -> JSONValue {
        guard abs(latitude) <= 90 else {
            throw ArchiveFailure("latitude \(latitude) is outside -90...90 degrees")
        }
        guard abs(longitude) <= 180 else {
            throw ArchiveFailure("longitude \(longitude) is outside -180...180 degrees")
        }
        return .point(latitude, longitude)
    }
}

extension ArchivedRecords.PointMapping {
    /// Replaces the two fields by the point; an object with neither stays unchanged.
    ///
    /// - Throws: `ArchiveFailure` with the path inside the object.
    func apply(to document: inout JSONValue) throws(ArchiveFailure) {
        let found = (document.value(atPath: latitude), document.value(atPath: longitude))
        if case (nil, nil) = found { return }
        func degrees(_ value: JSONValue?, _ path: String) throws(ArchiveFailure) -> Double {
            // Coordinates are archived as text too.
            guard let degrees = value?.double ?? value?.string.flatMap(Double.init),
                degrees.isFinite
            else { throw ArchiveFailure("expected a number of degrees", at: path) }
            return degrees
        }
        let point = try ArchivedPoint.value(
            try degrees(found.0, latitude), try degrees(found.1, longitude))
        document.remove(atPath: latitude)
        document.remove(atPath: longitude)
        if case .object(let rest)? = document.value(atPath: field), rest.isEmpty {
            document.remove(atPath: field)
        }
        guard document.value(atPath: field) == nil else {
            throw ArchiveFailure("has something else already where the point belongs", at: field)
        }
        document.set(point, atPath: field)
        guard document.value(atPath: field) == point else {
            throw ArchiveFailure("lies inside something that is no object", at: field)
        }
    }
}

extension JSONValue {
    private static func parts(_ path: String) -> [Substring] { path.split(separator: ".") }

    func value(atPath path: String) -> JSONValue? {
        Self.parts(path).reduce(self as JSONValue?) { $0?[String($1)] }
    }

    mutating func remove(atPath path: String) {
        change(Self.parts(path)[...]) { _ in nil }
    }

    mutating func set(_ value: JSONValue, atPath path: String) {
        change(Self.parts(path)[...]) { _ in value }
    }

    /// Replaces the member at a path with the result of `body`; nil removes it.
    private mutating func change(
        _ parts: ArraySlice<Substring>, _ body: (JSONValue?) -> JSONValue?
    ) {
        guard case .object(var members) = self, let name = parts.first else { return }
        let index = members.firstIndex { $0.name == name }
        var inner = index.map { members[$0].value }
        if parts.count > 1 {
            var container = inner ?? .object([] as [Member])
            container.change(parts.dropFirst(), body)
            inner = container
        } else {
            inner = body(inner)
        }
        if let index {
            if let inner { members[index].value = inner } else { members.remove(at: index) }
        } else if let inner {
            members.append(Member(String(name), inner))
        }
        self = .object(members)
    }
}
