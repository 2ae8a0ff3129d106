import JSONText
import Objects

/// Applies a mapping to records: the JSON text of a record becomes that of an object.
///
/// - Complexity: O(bytes of the record); two parses.
final class Mapper {
    private let mapping: Mapping
    private let readers: [Place]
    /// Paths whose values are left out, by their names.
    private let removed: [[[UInt8]]]
    private let kind: RecordFields.Kind
    private let minifies: Bool
    private let places: PlaceReader
    private let validator: RecordValidator
    private let ids = KnownIDs()
    /// Whether a later record may replace one that has the same `_id`.
    private let isStream: Bool
    /// Whether the mapping changes nothing in a plain record.
    private let copies: Bool
    /// Whether an id that is in no field is kept in one.
    private(set) var keepsID: Bool

    /// A class, because it is passed on for every record.
    private final class Place {
        let rule: PlaceRule
        let name: [UInt8]
        let paths: [FieldPath]
        /// The paths as their names.
        let names: [[[UInt8]]]

        init(_ rule: PlaceRule) {
            self.rule = rule
            name = Array(rule.field.utf8)
            paths = rule.paths.map { FieldPath($0) }
            names = rule.paths.map(Mapper.names)
        }
    }

    /// - Parameters:
    ///   - kind: what the records are.
    ///   - minifies: whether records may have white space between their values.
    ///   - isStream: whether records may be changes, of which the last of an `_id` counts.
    init(
        _ mapping: Mapping, limits: Limits, kind: RecordFields.Kind, minifies: Bool, isStream: Bool
    ) {
        self.mapping = mapping
        self.kind = kind
        self.isStream = isStream
        self.minifies = minifies
        keepsID = mapping.keepsID
        places = PlaceReader(mapping.geometry)
        validator = RecordValidator(limits: limits)
        readers = mapping.places.map { Place($0) }
        removed =
            mapping.without.map(Self.names)
            + (mapping.keepsPlaceFields ? [] : readers.flatMap(\.names))
        copies =
            mapping.places.isEmpty && mapping.without.isEmpty && mapping.id == .usual
            && mapping.renames.isEmpty && mapping.only == nil && !mapping.flattens
            && mapping.underscores == .refuse
    }

    private static func names(_ path: String) -> [[UInt8]] {
        path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map {
            Array($0)
        }
    }

    /// An object, and the hash of its `_id` if it has one.
    typealias Object = (text: [UInt8], idHash: Int?)

    /// - Parameter text: one JSON value.
    func object(_ text: [UInt8]) throws(RecordError) -> Object {
        let record = try validator.parse(text)
        guard record.kind == .object else { throw RecordError("expected a JSON object") }
        let fields = try RecordFields(record, kind)
        var hash: Int?
        do throws(RecordError) {
            if isUnchanged(fields) {
                if let id = fields.id { hash = try note(id.utf8!, isOwn: true) }
                try validator.check(record)
                return (minifies ? minifiedJSON(record.text) : text, hash)
            }
            var output = Output(mapping)
            try write(fields, to: &output, &hash)
            let object = output.finished()
            _ = try validator.validate(object)
            return (object, hash)
        } catch {
            throw hinting(error)
        }
    }

    /// Whether the object is the record as it stands.
    private func isUnchanged(_ fields: RecordFields) -> Bool {
        guard copies, fields.wrapper == .plain, !keepsID else { return false }
        return fields.id.map { id in id.utf8.map { ObjectID.isValid($0) } ?? false } ?? true
    }

    /// The hash of an id.
    ///
    /// - Parameter isOwn: whether it is the record's `_id` as it stands.
    /// - Throws: for one that an earlier record has, which it must not replace.
    private func note(
        _ id: UnsafeBufferPointer<UInt8>, isOwn: Bool
    ) throws(RecordError) -> Int {
        let hash = KnownIDs.hash(id)
        guard ids.insert(hash) || isOwn && isStream else {
            throw RecordError("an earlier record has the id \(quoted(id.text)) too", path: "_id")
        }
        return hash
    }

    private func hinting(_ error: RecordError) -> RecordError {
        if let path = error.path, error.message.hasSuffix("twice"),
            readers.contains(where: { $0.rule.field == path })
        {
            return RecordError(
                "the record has a field and a place of this name; --point or --place names the "
                    + "place, --rename or --without changes the field", path: path)
        }
        guard mapping.underscores == .refuse, error.path?.hasPrefix("_") == true,
            error.path != "_id"
        else { return error }
        return RecordError(
            error.message + "; --underscores strip takes the underscores off, --underscores "
                + "keep-as=x_ gives such names another beginning", path: error.path)
    }

    // MARK: Ids

    /// - Returns: the hash of the id; nil where the service makes it.
    private func writeID(
        _ fields: RecordFields, to output: inout Output
    ) throws(RecordError) -> Int? {
        let external = try fields.externalID()
        let text: String?
        switch mapping.id {
        case .none: text = nil
        case .usual: text = external
        case .fields(let paths): text = try joined(paths, fields)
        }
        var hash: Int?
        if let text {
            let id = EscapedID.text(text)
            let isOwn = mapping.id == .usual && fields.wrapper == .plain && id == text
            hash = try Array(id.utf8).withUnsafeBufferPointer { utf8 throws(RecordError) in
                try note(utf8, isOwn: isOwn)
            }
            output.id(id)
            if mapping.id == .usual, id != text { keepsID = true }
        }
        let isLost = external != nil && mapping.id != .usual && mapping.id != .none
        guard keepsID || isLost, let external else { return hash }
        output.begin(Array(mapping.idField.utf8))
        if let id = fields.id, id.kind == .number, fields.wrapper != .element {
            output.writer.raw(id.text)
        } else {
            output.writer.string(external)
        }
        return hash
    }

    /// The values of the fields joined by dots; nil if the record has none of them.
    private func joined(_ paths: [String], _ fields: RecordFields) throws(RecordError) -> String? {
        var parts: [String] = []
        for path in paths {
            guard let value = fields.value(at: FieldPath(path)) else { continue }
            if let text = try RecordFields.idText(value, at: path) { parts.append(text) }
        }
        guard parts.isEmpty || parts.count == paths.count else {
            throw RecordError(
                "the record has only some of the parts of its id: \(paths.joined(separator: ", "))")
        }
        return parts.isEmpty ? nil : parts.joined(separator: ".")
    }

    // MARK: Fields

    private func write(
        _ fields: RecordFields, to output: inout Output, _ idHash: inout Int?
    ) throws(RecordError) {
        idHash = try writeID(fields, to: &output)
        var found: [PlaceReader.Found] = []
        for place in readers { found.append(try read(place, fields)) }
        var isWritten = found.map { place in if case .nothing = place { true } else { false } }
        try fields.visit { member throws(RecordError) in
            for index in readers.indices
            where !isWritten[index]
                && readers[index].names.contains(where: { Self.begins($0, member.name) })
            {
                isWritten[index] = true
                try write(found[index], readers[index], fields, to: &output)
            }
            try write(member, found, to: &output)
        }
        for index in readers.indices where !isWritten[index] {
            try write(found[index], readers[index], fields, to: &output)
        }
        try writeGeometry(fields, to: &output)
    }

    private static func begins(
        _ names: [[UInt8]], _ name: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        name.elementsEqualBytes(names[0])
            || names.count > 1
                && name.elementsEqualBytes(Array(names.joined(separator: [UInt8(ascii: ".")])))
    }

    /// The paths to remove inside a member; nil if the member itself is removed.
    private func removed(
        inside name: UnsafeBufferPointer<UInt8>
    ) -> [ArraySlice<[UInt8]>]? {
        var inside: [ArraySlice<[UInt8]>] = []
        for names in removed where Self.begins(names, name) {
            guard names.count > 1, name.elementsEqualBytes(names[0]) else { return nil }
            inside.append(names.dropFirst())
        }
        return inside
    }

    private func write(
        _ member: JSONView.Member, _ found: [PlaceReader.Found], to output: inout Output
    ) throws(RecordError) {
        guard let inside = removed(inside: member.name) else { return }
        guard output.keeps(member.name) else { return }
        if inside.isEmpty, !mapping.flattens, !output.renames(member.name) {
            output.copy(member)
            return
        }
        let name = output.name(for: member.name)
        if mapping.flattens {
            output.flatten(name, member.value, without: inside)
        } else {
            output.write(name, member.value, without: inside)
        }
    }

    // MARK: Places

    private func read(
        _ place: Place, _ fields: RecordFields
    ) throws(RecordError) -> PlaceReader.Found {
        let values = place.paths.map { fields.value(at: $0) }
        do throws(RecordError) {
            switch place.rule.source {
            case .pair(let latitude, let longitude):
                return try places.pair(values[0], values[1], (latitude, longitude))
            case .value: return try places.value(values[0])
            case .ordered(_, _, let latitudeFirst):
                return try places.value(values[0], latitudeFirst: latitudeFirst)
            }
        } catch {
            guard case .value(let path) = place.rule.source else { throw error }
            let paths = [path, error.path].compactMap { $0 }
            throw RecordError(error.message, path: paths.joined(separator: "."))
        }
    }

    private func write(
        _ found: PlaceReader.Found, _ place: Place, _ fields: RecordFields,
        to output: inout Output
    ) throws(RecordError) {
        let paths = place.rule.paths
        try write(found, as: place.name, at: (paths[0], paths.last!), to: &output) {
            fields.value(at: place.paths[0])
        }
    }

    private func write(
        _ found: PlaceReader.Found, as name: [UInt8],
        at paths: (latitude: String, longitude: String),
        to output: inout Output,
        own: () -> JSONView?
    ) throws(RecordError) {
        switch found {
        case .nothing: return
        case .own:
            output.begin(name)
            output.writer.raw(own()!.text)
        case .point(let position, let system):
            let degrees = try degrees(position, system, paths)
            output.begin(name)
            output.point(position, degrees)
        case .points(let positions, let system):
            var all: [(PlaceReader.Position, (latitude: Double, longitude: Double)?)] = []
            for (index, position) in positions.enumerated() {
                let path = "\(paths.latitude)[\(index)]"
                all.append((position, try degrees(position, system, (path, path))))
            }
            output.begin(name)
            output.writer.byte(UInt8(ascii: "["))
            for (index, (position, degrees)) in all.enumerated() {
                if index > 0 { output.writer.byte(UInt8(ascii: ",")) }
                output.point(position, degrees)
            }
            output.writer.byte(UInt8(ascii: "]"))
        }
    }

    /// Degrees of a position of another system; nil for one that is in degrees as it stands.
    private func degrees(
        _ position: PlaceReader.Position, _ system: ReferenceSystem?,
        _ paths: (latitude: String, longitude: String)
    ) throws(RecordError) -> (latitude: Double, longitude: Double)? {
        let system = system ?? mapping.crs ?? .degrees
        let found = system.degrees(x: position.x, y: position.y)
        for (degrees, bound, name, path) in [
            (found?.longitude, 180.0, "longitude", paths.longitude),
            (found?.latitude, 90.0, "latitude", paths.latitude),
        ] {
            guard let degrees, abs(degrees) <= bound else {
                let text = degrees.map { "\($0)" } ?? "\(position.x), \(position.y)"
                throw RecordError(
                    "\(name) \(text) is outside -\(Int(bound))...\(Int(bound)) degrees", path: path)
            }
        }
        return system == .degrees ? nil : found
    }

    /// Writes the place of a feature's geometry, unless a rule has read it.
    private func writeGeometry(
        _ fields: RecordFields, to output: inout Output
    ) throws(RecordError) {
        guard let geometry = fields.geometry,
            !readers.contains(where: { $0.rule.paths == ["geometry"] })
        else { return }
        let found: PlaceReader.Found
        do throws(RecordError) {
            guard
                geometry.kind == .array || geometry["type"]?.string != nil
                    || fields.wrapper == .element
            else { throw RecordError("expected a geometry or null") }
            found = try places.value(geometry)
        } catch {
            throw RecordError(
                error.message, path: error.path.map { "geometry.\($0)" } ?? "geometry")
        }
        let name = Array(mapping.pointField.utf8)
        let taken = name.withUnsafeBufferPointer { fields.inner?.member($0) }
        // `FeatureWriter` keeps an array that holds more than points; the geometry says less.
        if let taken, taken.kind == .array, !GeoPoint.coordinates(of: taken).isEmpty { return }
        guard taken == nil || !output.hasPointField else {
            throw RecordError(
                "the property \(quoted(mapping.pointField)) has the name of the point field; "
                    + "--point NAME names another, --rename the property", path: "properties")
        }
        let path = "geometry.coordinates"
        try write(found, as: name, at: (path, path), to: &output) { geometry }
        if case .point(let position, _) = found, let altitude = position.altitude,
            fields.inner?["altitude"] == nil
        {
            output.begin(Array("altitude".utf8))
            output.writer.raw(altitude)
        }
    }
}
