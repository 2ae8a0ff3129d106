import GeoBucketClient
import JSONText
import QueryLanguage

/// A query of a bucket as a client sends it.
struct PageRequest: Sendable {
    var bucket: String
    var query: Query
    /// Whether a query also asks why nothing was found; not for other methods with a query.
    var asksForHints = false

    /// Why nothing was found, in sentences, is asked for besides.
    var countParams: [UInt8] {
        params { writer in
            writeClause(to: &writer)
            writer.raw(",\"hints\":true")
        }
    }

    func deletionParams(isDryRun: Bool) -> [UInt8] {
        params { writer in
            writeClause(to: &writer)
            if isDryRun { writer.raw(",\"dryRun\":true") }
        }
    }

    func params(after key: String?, limit: Int? = nil) -> [UInt8] {
        params { writer in
            writeClause(to: &writer)
            if let limit {
                writer.key("bestEffortLimit")
                writer.integer(limit)
            }
            if let key {
                writer.key("paginationKey")
                writer.string(key)
            } else if asksForHints {
                writer.raw(",\"hints\":true")
            }
            if let fields = query.fields {
                writer.raw(",\"fields\":[")
                writer.list(fields) { $1.string($0) }
                writer.byte(UInt8(ascii: "]"))
            }
        }
    }

    /// Fetches page after page and writes each object to standard output through `format`.
    ///
    /// - Parameter wanted: how many objects; nil means one page.
    /// - Returns: whether more objects match, and what is known if there are none.
    func pages(
        _ connection: LineConnection, upTo wanted: Int?,
        _ format: (_ object: [UInt8], _ output: inout [UInt8]) throws -> Void
    ) async throws -> (hasMore: Bool, finding: Finding) {
        var key: String?
        var left = wanted ?? .max
        var finding = Finding(isEmpty: true)
        repeat {
            let limit = left < Int(Int32.max) ? left : nil
            let page = try await connection.call("bucket.query", params(after: key, limit: limit))
            var output: [UInt8] = []
            try JSONParser.reading(page) { view in
                for object in view["results"]?.elements ?? view.elements {
                    try format(Array(object.text), &output)
                    left -= 1
                    finding.isEmpty = false
                }
                finding.take(view)
                key = view["nextPaginationKey"]?.string
            }
            try Console.write(output)
        } while wanted != nil && left > 0 && key != nil
        return (key != nil, finding)
    }

    private func params(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"bucket\":")
        writer.string(bucket)
        body(&writer)
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    private func writeClause(to writer: inout JSONWriter) {
        writer.raw(",\"bucketQuery\":{\"clause\":")
        query.clause.write(to: &writer)
        if !query.order.isEmpty {
            writer.raw(",\"orderBy\":[")
            writer.list(query.order) { $0.write(to: &$1) }
            writer.byte(UInt8(ascii: "]"))
        }
        if !query.aggregations.isEmpty {
            writer.raw(",\"aggregations\":[")
            writer.list(query.aggregations) { $0.write(to: &$1) }
            writer.byte(UInt8(ascii: "]"))
        }
        writer.byte(UInt8(ascii: "}"))
    }
}
