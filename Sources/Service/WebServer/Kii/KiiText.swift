import JSONText
import Objects
import QueryLanguage
import ServiceDesk

/// What Kii's bodies say, and Kii's form of objects and pages.
enum KiiText {
    // MARK: Answers

    /// An object whose `_version` is a string.
    static func object(_ object: JSONView) -> [UInt8] {
        var writer = JSONWriter(reserving: object.text.count + 2)
        write(object, to: &writer)
        return writer.bytes
    }

    /// A page of results, in all of which `_version` is a string.
    ///
    /// - Parameter objects: those of the page.
    static func page(
        of query: Query, _ found: ObjectPage, _ objects: JSONView
    ) -> [UInt8] {
        var writer = JSONWriter(reserving: found.objects.count + 400)
        writer.raw("{\"queryDescription\":")
        query.writeDescription(to: &writer)
        writer.raw(",\"results\":[")
        writer.list(Array(objects.elements)) { write($0, to: &$1) }
        writer.byte(UInt8(ascii: "]"))
        if let aggregations = found.aggregations {
            writer.key("aggregations")
            writer.raw(aggregations)
        }
        if let key = found.nextPaginationKey {
            writer.key("nextPaginationKey")
            writer.string(key)
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    private static func write(_ object: JSONView, to writer: inout JSONWriter) {
        writer.byte(UInt8(ascii: "{"))
        writer.list(Array(object.members)) { member, writer in
            guard member.name.elementsEqualBytes("_version") else {
                return writer.raw(member.text)
            }
            writer.raw(member.nameText)
            writer.string(Array(member.value.text))
        }
        writer.byte(UInt8(ascii: "}"))
    }

    // MARK: Queries

    /// The query that the body of a request is.
    ///
    /// - Throws: for a body that is no object, and for members that no query has.
    static func query(_ body: JSONView, _ limits: Limits) throws(ServiceFailure) -> Query {
        var members = try MemberReader(body)
        let query = try QueryParser(limits: limits, takesEmptyAnd: true).query(from: &members)
        try members.finish(as: "a query")
        return query
    }
}
