import JSONText
import Objects

/// Texts in the form of the line protocol, made of Kii's, and the other way round.
enum KiiText {
    // MARK: Answers

    /// An object whose `_version` is a string.
    static func object(_ object: JSONView) -> [UInt8] {
        var writer = JSONWriter(reserving: object.text.count + 2)
        write(object, to: &writer)
        return writer.bytes
    }

    /// A page of results, in all of which `_version` is a string.
    static func page(_ page: JSONView) -> [UInt8] {
        var writer = JSONWriter(reserving: page.text.count + 400)
        writer.byte(UInt8(ascii: "{"))
        writer.list(Array(page.members)) { member, writer in
            guard member.name.elementsEqualBytes("results") else {
                return writer.raw(member.text)
            }
            writer.raw(member.nameText)
            writer.byte(UInt8(ascii: "["))
            writer.list(Array(member.value.elements)) { write($0, to: &$1) }
            writer.byte(UInt8(ascii: "]"))
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

    /// The members of `bucket.query`, each with a comma before it, for the body of a query.
    ///
    /// - Throws: for a body that is no object, and for members that no query has.
    static func query(_ body: [UInt8]) throws(KiiFailure) -> [UInt8] {
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        guard let view = try? parser.parse(body), view.kind == .object else {
            throw KiiFailure(.invalidInputData, "expected a JSON object")
        }
        var writer = JSONWriter(reserving: body.count + 16)
        for member in view.members {
            guard members.contains(where: { member.name.elementsEqualBytes($0) }) else {
                let name = String(decoding: member.name, as: UTF8.self)
                throw KiiFailure(
                    .invalidInputData, "a query has no member \(quoted(name))", at: shortened(name))
            }
            writer.byte(UInt8(ascii: ","))
            writer.raw(member.nameText)
            if member.name.elementsEqualBytes("bucketQuery") {
                writeQuery(member.value, to: &writer)
            } else {
                writer.raw(member.value.text)
            }
        }
        return writer.bytes
    }

    private static let members: [StaticString] = [
        "bucketQuery", "bestEffortLimit", "paginationKey", "fields",
    ]

    private static func writeQuery(_ query: JSONView, to writer: inout JSONWriter) {
        rewrite(query, to: &writer) { member, writer in
            guard member.name.elementsEqualBytes("clause") else { return false }
            writeClause(member.value, to: &writer)
            return true
        }
    }

    /// Appends a clause in which an `and` of nothing is `all`, at every depth.
    private static func writeClause(_ clause: JSONView, to writer: inout JSONWriter) {
        if let clauses = clause["clauses"], clauses.kind == .array, clauses.count == 0,
            clause["type"]?.string == "and"
        {
            return writer.raw("{\"type\":\"all\"}")
        }
        rewrite(clause, to: &writer) { member, writer in
            if member.name.elementsEqualBytes("clause") {
                writeClause(member.value, to: &writer)
                return true
            }
            guard member.name.elementsEqualBytes("clauses"), member.value.kind == .array else {
                return false
            }
            writer.byte(UInt8(ascii: "["))
            writer.list(Array(member.value.elements)) { writeClause($0, to: &$1) }
            writer.byte(UInt8(ascii: "]"))
            return true
        }
    }

    /// Appends a value; in an object, `change` may write a member's value in its own way.
    private static func rewrite(
        _ value: JSONView, to writer: inout JSONWriter,
        _ change: (JSONView.Member, inout JSONWriter) -> Bool
    ) {
        guard value.kind == .object else { return writer.raw(value.text) }
        writer.byte(UInt8(ascii: "{"))
        writer.list(Array(value.members)) { member, writer in
            writer.raw(member.nameText)
            if !change(member, &writer) { writer.raw(member.value.text) }
        }
        writer.byte(UInt8(ascii: "}"))
    }
}
