import Foundation
import JSONText
import TestSupport

/// One page as it came.
struct Page {
    var results: [(value: JSONValue, text: [UInt8])]
    var nextKey: String?

    init(_ answer: [UInt8]) throws {
        (results, nextKey) = try JSONParser.reading(answer) { view in
            (
                try view["results"]!.elements.map { (try JSONValue($0), Array($0.text)) },
                view["nextPaginationKey"]?.string
            )
        }
    }

    var ids: [String] { results.map { $0.value["_id"]!.string! } }
}

extension ContractClient {
    /// One page of a query.
    ///
    /// - Parameter limit: JSON of `bestEffortLimit`, or nil for none.
    func page(
        _ bucket: String, _ query: GeneratedQuery, limit: String?, key: String? = nil,
        fields: Bool = true
    ) async throws -> Page {
        try Page(try await call("bucket.query", Self.params(bucket, query, limit, key, fields)))
    }

    static func params(
        _ bucket: String, _ query: GeneratedQuery, _ limit: String? = nil, _ key: String? = nil,
        _ fields: Bool = true
    ) -> String {
        let limit = limit.map { #","bestEffortLimit":\#($0)"# } ?? ""
        let key = key.map { #","paginationKey":"\#($0)""# } ?? ""
        return #"{"bucket":"\#(bucket)","bucketQuery":\#(query.bucketQuery)"#
            + limit + key + (fields ? query.fieldsMember : "") + "}"
    }
}

/// Says how a result differs from the expected one; nil when it does not.
func difference(
    _ result: (value: JSONValue, text: [UInt8]), _ expected: OracleResult, projected: Bool
) -> String? {
    guard case .object(let members) = result.value else { return "a result is no object" }
    let own = JSONValue.object(members.filter { $0.name != "_calculated" })
    guard own.isIdentical(to: expected.members) else {
        return "got \(own.text), expected \(expected.members.text)"
    }
    let distances = result.value["_calculated"]
    if expected.distances.isEmpty, distances != nil { return "an empty _calculated" }
    guard Set(distances?.names ?? []) == Set(expected.distances.keys) else {
        return "_calculated has \(distances?.names ?? []), expected \(expected.distances)"
    }
    for (name, micrometers) in expected.distances {
        let meters = distances![name]!.double!
        if Int64((meters * 1e6).rounded()) != micrometers {
            return "\(name) is \(meters) m, expected \(micrometers) µm"
        }
    }
    if !projected, let text = expected.object.text {
        // Without the braces: between predefined members and `_calculated`.
        let stored = Array(text.utf8.dropFirst().dropLast())
        if !result.text.contains(stored) {
            return "\(String(decoding: result.text, as: UTF8.self)) is spelled unlike \(text)"
        }
    }
    return nil
}

/// Says how results differ from the expected ones, order included; nil when they do not.
func difference(
    _ results: [(value: JSONValue, text: [UInt8])], _ expected: [OracleResult], projected: Bool
) -> String? {
    let ids = results.map { $0.value["_id"]!.string! }
    guard ids == expected.map(\.object.id) else {
        return "got \(ids), expected \(expected.map(\.object.id))"
    }
    return zip(results, expected).lazy.compactMap { difference($0, $1, projected: projected) }
        .first.map { "in order, but \($0)" }
}

extension [UInt8] {
    /// Whether the bytes occur in a row.
    func contains(_ part: [UInt8]) -> Bool {
        part.isEmpty || Data(self).range(of: Data(part)) != nil
    }
}
