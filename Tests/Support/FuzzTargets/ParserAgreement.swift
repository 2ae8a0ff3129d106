import JSONText

/// The two parsers of JSON, one beside the other.
public enum ParserAgreement {
    /// Where the parser in plain Swift and that on simdjson do not agree on a text; nil where they do.
    public static func difference(_ text: [UInt8]) -> String? {
        let plain = try? PlainJSONParser.reading(text, nodes)
        let fast = try? JSONParser.reading(text, nodes)
        guard plain != fast else { return nil }
        guard let plain, let fast else {
            return plain == nil ? "only simdjson takes it" : "only plain Swift takes it"
        }
        let pairs = zip(plain, fast).first { $0 != $1 }
        return pairs.map { "\($0) in plain Swift, \($1) by simdjson" } ?? "more nodes in one"
    }

    /// Everything that a view tells, a line for each value and each name.
    private static func nodes(_ view: JSONView) -> [String] {
        let scalar = view.bool.map { "\($0)" } ?? view.number.map { "\($0)" }
        let content = scalar ?? view.utf8.map { "\(Array($0))" } ?? ""
        let first = "\(view.kind) \(view.range) \(view.nodeCount) \(view.count) \(content)"
        let members = view.members.flatMap { member in
            ["\(Array(member.name)) \(Array(member.text))"] + nodes(member.value)
        }
        return [first] + view.elements.flatMap(nodes) + members
    }
}
