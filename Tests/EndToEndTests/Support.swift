import JSONText
import TestSupport

extension TestService {
    /// Stores objects under their ids, in this order; each text is the members without braces.
    func store(_ objects: KeyValuePairs<String, String>, in bucket: String = "b1") async throws {
        try await store(objects.map { ($0.key, $0.value) }, in: bucket)
    }

    func store(_ objects: [(String, String)], in bucket: String = "b1") async throws {
        let texts = objects.map { id, members in
            "{\"_id\":\"\(id)\"" + (members.isEmpty ? "" : ",") + members + "}"
        }
        try await call(
            "object.putMany",
            "{\"bucket\":\"\(bucket)\",\"objects\":[\(texts.joined(separator: ","))]}")
    }

    func put(
        _ id: String, _ object: String, in bucket: String = "b1", more: String = ""
    ) async throws -> JSONValue {
        try await call("object.put", putParams(id, object, in: bucket, more: more))
    }

    /// How a put ends: `accepted`, or the error and its path.
    func putOutcome(
        _ id: String, _ object: String, in bucket: String = "b1", more: String = ""
    ) async throws -> String {
        try await outcome("object.put", putParams(id, object, in: bucket, more: more))
    }

    private func putParams(_ id: String, _ object: String, in bucket: String, more: String)
        -> String
    {
        "{\"bucket\":\"\(bucket)\",\"id\":\"\(id)\",\"object\":\(object)\(more)}"
    }

    func get(_ id: String, in bucket: String = "b1") async throws -> JSONValue {
        try await call("object.get", #"{"bucket":"\#(bucket)","id":"\#(id)"}"#)
    }

    func getText(_ id: String, in bucket: String = "b1") async throws -> String {
        try await text("object.get", #"{"bucket":"\#(bucket)","id":"\#(id)"}"#)
    }

    /// The answer to a query.
    ///
    /// - Parameters:
    ///   - order: further members of `bucketQuery`, such as `"orderBy":"n"`.
    ///   - more: further params, such as `"bestEffortLimit":2`.
    func query(
        _ clause: String = #"{"type":"all"}"#, order: String = "", more: String = "",
        in bucket: String = "b1"
    ) async throws -> JSONValue {
        try await call("bucket.query", queryParams(clause, order, more, bucket))
    }

    /// How a query ends: `accepted`, or the error and its path.
    func queryOutcome(
        _ clause: String = #"{"type":"all"}"#, order: String = "", more: String = "",
        in bucket: String = "b1"
    ) async throws -> String {
        try await outcome("bucket.query", queryParams(clause, order, more, bucket))
    }

    /// The ids of the objects that a query returns, in its order.
    func ids(
        _ clause: String = #"{"type":"all"}"#, order: String = "", more: String = "",
        in bucket: String = "b1"
    ) async throws -> [String] {
        try await query(clause, order: order, more: more, in: bucket).ids
    }

    func count(_ clause: String, in bucket: String = "b1") async throws -> Int? {
        try await call(
            "bucket.count", #"{"bucket":"\#(bucket)","bucketQuery":{"clause":\#(clause)}}"#
        )["count"]?.int
    }
}

func queryParams(_ clause: String, _ order: String, _ more: String, _ bucket: String) -> String {
    #"{"bucket":"\#(bucket)","bucketQuery":{"clause":"# + clause
        + (order.isEmpty ? "" : ",") + order + "}" + (more.isEmpty ? "" : ",") + more + "}"
}

extension JSONValue {
    /// The ids of a query's results.
    var ids: [String] { self["results"]?.array?.compactMap { $0["_id"]?.string } ?? [] }

    var nextPaginationKey: String? { self["nextPaginationKey"]?.string }
}

/// `{"_type":"point",…}`
func point(_ latitude: Double, _ longitude: Double) -> String {
    #"{"_type":"point","lat":\#(latitude),"lon":\#(longitude)}"#
}

/// Text inside a JSON string, as it is: only for texts that need no escapes.
func json(_ text: String) -> String { "\"\(text)\"" }
