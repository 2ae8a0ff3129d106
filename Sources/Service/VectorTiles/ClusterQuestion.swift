import JSONText
import Objects
import QueryLanguage
import WebExchange

/// What an address asks of a collection: which objects, and which of their fields.
package struct ClusterQuestion {
    private let collection: CollectionName
    /// The `bucketQuery`, as JSON.
    private let query: [UInt8]?
    /// The names of the fields that objects have; nil means all.
    private let fields: [String]?
    /// The parameter of the address that has the query.
    private let queryName: String
    /// The parameters, name and value by turns.
    let parameters: [String]

    /// Reads `filter` or `query`, and `fields`.
    package init(_ collection: CollectionName, of request: WebRequest) throws(WebFailure) {
        try request.check(["filter", "query", "fields"])
        self.collection = collection
        parameters = request.query.flatMap { [$0.name, $0.value] }
        query = try request.bucketQuery()
        fields = request.fields
        queryName = request["query"] == nil ? "filter" : "query"
    }

    /// Whether the address names the fields.
    var namesFields: Bool { fields != nil }

    /// Whether objects have a field of their first level.
    func shows(_ field: String) -> Bool { fields?.contains(field) ?? true }

    /// The params of `bucket.clusters`, with further members.
    package func params(_ more: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"bucket\":")
        writer.string(collection.bucket.text)
        if let field = collection.field {
            writer.key("field")
            writer.string(field.utf8)
        }
        if let query {
            writer.key("bucketQuery")
            writer.raw(query)
        }
        if let fields {
            writer.raw(",\"fields\":[")
            writer.list(fields) { $1.string($0) }
            writer.byte(UInt8(ascii: "]"))
        }
        more(&writer)
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    /// The place in the address that a path of the method's params stands for.
    func path(_ path: String) -> String {
        let member = "bucketQuery"
        switch path {
        case "bucket", "field": return "collection"
        case _ where path.hasPrefix(member): return queryName + path.dropFirst(member.count)
        default: return path
        }
    }
}
