import GeoBucketClient
import JSONText

/// The buckets of a scope, as a service lists them.
enum BucketList {
    /// Calls `body` with each page, by name.
    ///
    /// - Parameter scope: such as `users/alice`; nil for the application's own.
    static func forEachPage(
        of scope: String?, _ connection: LineConnection, _ body: ([JSONView]) throws -> Void
    ) async throws {
        var key: String?
        repeat {
            let members = [("scope", scope), ("paginationKey", key)].compactMap { name, value in
                value.map { JSONValue.Member(name, .string($0)) }
            }
            let page = try await connection.call(
                "bucket.list", Array(JSONValue.object(members).utf8))
            try JSONParser.reading(page) { view in
                try body(view["buckets"].map { Array($0.elements) } ?? [])
                key = view["nextPaginationKey"]?.string
            }
        } while key != nil
    }
}
