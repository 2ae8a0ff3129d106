import JSONText
import Objects

/// Applies a mapping to records: the JSON text of a record becomes that of an object.
///
/// - Complexity: O(bytes of the record); two parses.
final class Mapper {
    let mapping: Mapping
    let readers: [Place]
    /// The fields that are left out.
    private let removed: [RemovedPath]
    private let names: FieldNames
    private let kind: RecordFields.Kind
    private let minifies: Bool
    let places: PlaceReader
    private let validator: RecordValidator
    private let ids = KnownIDs()
    /// Whether a later record may replace one that has the same `_id`.
    private let isStream: Bool
    /// Whether the mapping changes nothing in a plain record.
    private let copies: Bool
    /// Whether an id that is in no field is kept in one.
    private(set) var keepsID: Bool

    // Classes, because they are passed on for every record.

    /// A place of the objects, and where the records have it.
    final class Place {
        let rule: PlaceRule
        let name: [UInt8]
        let paths: [FieldPath]
        fileprivate let removed: [RemovedPath]

        init(_ rule: PlaceRule) {
            self.rule = rule
            name = Array(rule.field.utf8)
            paths = rule.paths.map { FieldPath($0) }
            removed = rule.paths.map { RemovedPath($0) }
        }
    }

    /// The path of a value that is left out.
    fileprivate final class RemovedPath {
        let names: [[UInt8]]
        private let whole: [UInt8]

        init(_ path: String) {
            whole = Array(path.utf8)
            names = whole.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .map { Array($0) }
        }

        /// Whether a first-level field is or has what is left out.
        func begins(with name: UnsafeBufferPointer<UInt8>) -> Bool {
            isInside(name) || name.elementsEqualBytes(whole)
        }

        func isInside(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
            name.elementsEqualBytes(names[0])
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
        names = FieldNames(mapping)
        places = PlaceReader(mapping.geometry)
        validator = RecordValidator(limits: limits)
        readers = mapping.places.map { Place($0) }
        removed =
            mapping.without.map { RemovedPath($0) }
            + (mapping.keepsPlaceFields ? [] : readers.flatMap(\.removed))
        copies =
            mapping.places.isEmpty && mapping.without.isEmpty && mapping.id == .usual
            && mapping.renames.isEmpty && mapping.only == nil && !mapping.flattens
            && mapping.underscores == .refuse
    }

    /// An object, and the hash of its `_id` if it has one.
    typealias Object = (text: [UInt8], idHash: Int?)

    /// - Parameter text: one JSON value.
    func object(_ text: [UInt8]) throws(RecordError) -> Object {
        let record = try validator.parse(text)
        guard record.kind == .object else { throw RecordError("expected a JSON object") }
        let fields = try RecordFields(record, kind)
        do throws(RecordError) {
            if isUnchanged(fields) {
                try validator.check(record)
                let hash = try fields.id.map { id throws(RecordError) in
                    try note(id.utf8!, isOwn: true)
                }
                return (minifies ? minifiedJSON(record.text) : text, hash)
            }
            var output = Output(names)
            let id = try write(fields, to: &output)
            let isOwn = mapping.id == .usual && fields.wrapper == .plain && id == fields.id?.string
            let object = output.finished()
            _ = try validator.validate(object)
            let hash = try id.map { id throws(RecordError) in
                try Array(id.utf8).withUnsafeBufferPointer { id throws(RecordError) in
                    try note(id, isOwn: isOwn)
                }
            }
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

    /// Remembers the id of a valid object.
    ///
    /// - Parameter isOwn: whether it is the record's `_id` as it stands.
    /// - Returns: its hash.
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

    /// - Returns: the id; nil where the service makes it.
    private func writeID(
        _ fields: RecordFields, to output: inout Output
    ) throws(RecordError) -> String? {
        let external = try fields.externalID()
        let text: String?
        switch mapping.id {
        case .none: text = nil
        case .usual: text = external
        case .fields(let paths): text = try joined(paths, fields)
        }
        let id = text.map(EscapedID.text)
        if let id {
            output.id(id)
            if mapping.id == .usual, id != text { keepsID = true }
        }
        let isLost = external != nil && mapping.id != .usual && mapping.id != .none
        guard keepsID || isLost, let external else { return id }
        output.begin(Array(mapping.idField.utf8))
        if let id = fields.id, id.kind == .number, fields.wrapper != .element {
            output.writer.raw(id.text)
        } else {
            output.writer.string(external)
        }
        return id
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

    /// - Returns: the id; nil where the service makes it.
    private func write(
        _ fields: RecordFields, to output: inout Output
    ) throws(RecordError) -> String? {
        let id = try writeID(fields, to: &output)
        var found: [PlaceReader.Found?] = []
        for place in readers { found.append(try read(place, fields)) }
        // A place stands where the first of its fields stood.
        try fields.visit { member throws(RecordError) in
            for (index, place) in readers.enumerated()
            where place.removed.contains(where: { $0.begins(with: member.name) }) {
                guard let value = found[index] else { continue }
                found[index] = nil
                try write(value, place, fields, to: &output)
            }
            write(member, to: &output)
        }
        for (index, place) in readers.enumerated() {
            if let value = found[index] { try write(value, place, fields, to: &output) }
        }
        try writeGeometry(fields, to: &output)
        return id
    }

    /// The paths to leave out inside a field; nil if the field itself is left out.
    private func removed(
        inside name: UnsafeBufferPointer<UInt8>
    ) -> [ArraySlice<[UInt8]>]? {
        var inside: [ArraySlice<[UInt8]>] = []
        for path in removed where path.begins(with: name) {
            guard path.names.count > 1, path.isInside(name) else { return nil }
            inside.append(path.names.dropFirst())
        }
        return inside
    }

    private func write(_ member: JSONView.Member, to output: inout Output) {
        guard let inside = removed(inside: member.name), names.keeps(member.name) else { return }
        let newName = names.newName(of: member.name)
        if inside.isEmpty, !mapping.flattens, newName == nil {
            output.copy(member)
            return
        }
        let name = newName ?? Array(member.name)
        if mapping.flattens {
            output.flatten(name, member.value, without: inside)
        } else {
            output.write(name, member.value, without: inside)
        }
    }
}
