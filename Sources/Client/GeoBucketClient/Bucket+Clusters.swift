import PlainJSON

/// The objects of a map, counted by its cells.
public struct Clusters: Sendable {
    /// The objects of one cell.
    public struct Cluster: Sendable {
        /// The cell, `level/column/row`, as web map tiles are named.
        public let cell: String
        /// How many objects lie in the cell.
        public let count: Int
        /// The middle of the objects' places; of one object, nil.
        public let center: GeoPoint?
        /// The object, if the cell has one only.
        public let object: GeoObject?

        fileprivate init(_ answer: JSONView, _ bucket: Bucket, isPartial: Bool) throws {
            cell = try answer.value("cell")
            count = try answer.value("count")
            center = try answer.value("center")
            object = try answer["object"].map {
                try GeoObject(bucket, document: $0, isPartial: isPartial)
            }
        }
    }

    /// The change after which the objects were counted.
    public let change: Int
    /// The sum of all counts.
    public let total: Int
    /// The cells that have objects, from north to south, and in a row from west to east.
    public let clusters: [Cluster]

    fileprivate init(_ answer: JSONView, _ bucket: Bucket, isPartial: Bool) throws {
        change = try answer.value("change")
        total = try answer.value("total")
        clusters =
            try answer["clusters"]?.elements.map {
                try Cluster($0, bucket, isPartial: isPartial)
            } ?? []
    }
}

extension JSONView {
    /// A member as another type; a member that is missing reads as null.
    fileprivate func value<Value: JSONConvertible>(_ name: StaticString) throws -> Value {
        let value = try self[name].map { try JSONValue($0) } ?? .null
        return try JSONMismatch.inside("\(name)") { try Value(jsonValue: value) }
    }
}

/// The field paths of a bucket's objects.
public struct FieldTypes: Sendable, Equatable {
    /// The field paths, such as `address.city`, and how many objects have which type there.
    public let fields: [String: [Clause.FieldType: Int]]
    /// How many objects the bucket has.
    public let objects: Int
    /// How many of them were looked at.
    public let sampled: Int

    fileprivate init(_ answer: JSONValue) throws {
        objects = try answer.member("objects")
        sampled = try answer.member("sampled")
        fields = try (answer["fields"]?.array ?? []).reduce(into: [:]) { fields, field in
            let types: [String: Int] = try field.member("types")
            fields[try field.member("field", as: String.self)] = types.reduce(into: [:]) {
                if let type = Clause.FieldType(rawValue: $1.key) { $0[type] = $1.value }
            }
        }
    }
}

extension Bucket {
    /// The objects that match the query, counted by the cells of a map.
    ///
    ///     let clusters = try await shops.clusters(zoom: 5)
    ///     for cluster in clusters.clusters { print(cluster.cell, cluster.count) }
    ///
    /// The cells are those of the world, whatever the box: a cell has what its four children have,
    /// and each place lies in one cell.
    ///
    /// - Parameters:
    ///   - field: the field with the places; nil for the bucket's place, which most objects have.
    ///   - zoom: of the map, 0 to 22.
    ///   - bits: how often a tile of that zoom is halved, 0 to 8.
    ///   - box: counts only the cells that meet it, each whole.
    ///   - query: its order and limit are of no account.
    /// - Throws: `ClientFailure.refused` with `INVALID_INPUT_DATA` and the path `bits` for more
    ///   cells than the service permits.
    public func clusters(
        of field: String? = nil, zoom: Int, bits: Int = 4,
        in box: (northEast: GeoPoint, southWest: GeoPoint)? = nil,
        matching query: BucketQuery = BucketQuery()
    ) async throws -> Clusters {
        var members: [JSONValue.Member] = [
            .init("bucketQuery", .object(["clause": query.clause.json])),
            .init("zoom", .int(zoom)), .init("bits", .int(bits)),
        ]
        if let field { members.append(.init("field", .string(field))) }
        if let box {
            members.append(
                .init(
                    "box",
                    .object([
                        "ne": box.northEast.unchecked, "sw": box.southWest.unchecked,
                    ])))
        }
        let fields = query.fields
        if let fields { members.append(.init("fields", .array(fields.map(JSONValue.string)))) }
        return try await read(.clusters, members) {
            try Clusters($0, self, isPartial: fields != nil)
        }
    }

    /// The field paths of the bucket's objects with their types; of more than 100,000 objects a
    /// sample is looked at.
    public func fieldTypes() async throws -> FieldTypes {
        try await read(.fields, []) { try FieldTypes(try JSONValue($0)) }
    }
}
