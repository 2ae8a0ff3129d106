import JSONText
import Objects
import QueryLanguage
import WebExchange

/// What an address asks of a collection: which objects, and which of their fields.
struct ClusterQuestion {
    private let collection: CollectionName
    /// The `bucketQuery`, as JSON.
    private let query: String?
    /// The names of the fields that objects have; nil means all.
    private let fields: [String]?
    /// The parameter of the address that has the query.
    private let queryName: String
    /// The parameters, name and value by turns.
    let parameters: [String]

    private static let names = ["filter", "query", "fields"]

    /// Reads `filter` or `query`, and `fields`.
    init(_ collection: CollectionName, of request: WebRequest) throws(WebFailure) {
        for (position, parameter) in request.query.enumerated() {
            let name = parameter.name
            guard Self.names.contains(name) else {
                throw .invalid(
                    "there is no parameter \(quoted(name)); there are "
                        + Self.names.joined(separator: ", "), at: shortened(name))
            }
            guard !request.query[..<position].contains(where: { $0.name == name }) else {
                throw .invalid("given twice", at: name)
            }
        }
        self.collection = collection
        parameters = request.query.flatMap { [$0.name, $0.value] }
        fields = request["fields"].map { $0.split(separator: ",").map(String.init) }
        queryName = request["query"] == nil ? "filter" : "query"
        if let filter = request["filter"] {
            guard request["query"] == nil else {
                throw .invalid("\"filter\" and \"query\" exclude each other", at: "filter")
            }
            query = "{\"clause\":\(try Self.clause(filter).json)}"
        } else if let text = request["query"] {
            try Self.checkQuery(text)
            query = text
        } else {
            query = nil
        }
    }

    private static func clause(_ filter: String) throws(WebFailure) -> Clause {
        do {
            return try FilterExpression.parse(filter)
        } catch {
            throw .invalid("column \(error.offset): \(error.message)", at: "filter")
        }
    }

    /// Refuses what is not one JSON object: the text becomes a part of the params.
    private static func checkQuery(_ text: String) throws(WebFailure) {
        let parser = JSONParser()
        do throws(JSONSyntaxError) {
            if try parser.parse(Array(text.utf8)).kind == .object { return }
        } catch {}
        throw .invalid("expected a query, as JSON: an object", at: "query")
    }

    /// Whether the address names the fields.
    var namesFields: Bool { fields != nil }

    /// Whether objects have a field of their first level.
    func shows(_ field: String) -> Bool { fields?.contains(field) ?? true }

    /// The params of `bucket.clusters`, with further members.
    func params(_ more: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"bucket\":")
        writer.string(collection.bucket.text)
        if let field = collection.field {
            writer.key("field")
            writer.string(field.utf8)
        }
        if let query {
            writer.key("bucketQuery")
            writer.raw(Array(query.utf8))
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
