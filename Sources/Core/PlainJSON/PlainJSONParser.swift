import CJSONNodes

/// Strict RFC 8259 parsing in plain Swift, for programs that have no simdjson.
///
///     try PlainJSONParser.reading(line) { view in view["result"]?["count"]?.number }
///
/// It accepts the same texts as `JSONParser` and produces the same view.
///
/// - Complexity: O(bytes); it does not recurse.
public enum PlainJSONParser {
    /// Parses a text; the view and what it points to live as long as `body` runs.
    ///
    /// - Throws: `JSONSyntaxError`; what `body` throws.
    public static func reading<Result>(
        _ text: [UInt8], _ body: (JSONView) throws -> Result
    ) throws -> Result {
        guard UInt32(exactly: text.count) != nil else { throw JSONSyntaxError.tooLarge }
        guard String(validating: text, as: UTF8.self) != nil else {
            throw JSONSyntaxError.notUTF8(at: nil)
        }
        return try text.withUnsafeBufferPointer { text in
            var pass = ParsingPass(text)
            defer { pass.deallocate() }
            try pass.document()
            // An empty text, which has no address, is no document.
            return try pass.nodes.withUnsafeBufferPointer { nodes in
                try body(JSONView(root: nodes.baseAddress!, source: text.baseAddress!))
            }
        }
    }
}

/// One pass over a text: what has been read of it, as nodes.
private struct ParsingPass {
    private let text: UnsafeBufferPointer<UInt8>
    private var at = 0
    private(set) var nodes: [gb_json_node] = []
    /// The nodes of the arrays and objects that have begun and not ended.
    private var open: [Int] = []
    private var strings: UnescapedStrings

    init(_ text: UnsafeBufferPointer<UInt8>) {
        self.text = text
        strings = UnescapedStrings(capacity: text.count)
        nodes.reserveCapacity(text.count / 8)
    }

    func deallocate() { strings.deallocate() }

    mutating func document() throws(JSONSyntaxError) {
        try value()
        while let container = open.last { try goOn(in: container) }
        guard peek() == nil else { throw fault }
    }

    /// Reads a scalar or the beginning of an array or object.
    private mutating func value() throws(JSONSyntaxError) {
        switch peek() {
        case UInt8(ascii: "{"): try begin(gb_json_object)
        case UInt8(ascii: "["): try begin(gb_json_array)
        case UInt8(ascii: "\""):
            let node = try string()
            nodes[node].length = UInt32(at) - nodes[node].start
        case UInt8(ascii: "t"): try literal("true", gb_json_true)
        case UInt8(ascii: "f"): try literal("false", gb_json_false)
        case UInt8(ascii: "n"): try literal("null", gb_json_null)
        default: try number()
        }
    }

    /// Reads the next element or member of an array or object, or its end.
    private mutating func goOn(in container: Int) throws(JSONSyntaxError) {
        let isObject = nodes[container].kind == gb_json_object
        if peek() == UInt8(ascii: isObject ? "}" : "]") { return end(container) }
        if nodes[container].count > 0 { try pass(UInt8(ascii: ",")) }
        nodes[container].count += 1
        if isObject {
            guard peek() == UInt8(ascii: "\"") else { throw fault }
            _ = try string()
            try pass(UInt8(ascii: ":"))
        }
        try value()
    }

    // MARK: Arrays and objects

    private mutating func begin(_ kind: gb_json_kind) throws(JSONSyntaxError) {
        guard open.count < gb_json_maximum_depth else { throw .tooDeep(at: at) }
        open.append(append(kind))
        at += 1
    }

    private mutating func end(_ container: Int) {
        at += 1
        nodes[container].length = UInt32(at) - nodes[container].start
        nodes[container].next = UInt32(nodes.count)
        open.removeLast()
    }

    /// Appends a node that begins here, of a value that nothing is inside of.
    private mutating func append(_ kind: gb_json_kind) -> Int {
        var node = gb_json_node()
        node.kind = kind
        node.start = UInt32(at)
        node.next = UInt32(nodes.count + 1)
        nodes.append(node)
        return nodes.count - 1
    }

    // MARK: Scalars

    private mutating func literal(
        _ word: StaticString, _ kind: gb_json_kind
    ) throws(JSONSyntaxError) {
        let token = UnsafeBufferPointer(rebasing: text[at...].prefix(word.utf8CodeUnitCount))
        guard token.elementsEqualBytes(word) else { throw fault }
        let node = append(kind)
        nodes[node].length = UInt32(token.count)
        at += token.count
    }

    private mutating func number() throws(JSONSyntaxError) {
        let token = NumberToken(text[at...])
        guard let token else { throw fault }
        let node = append(gb_json_null)
        token.store(in: &nodes[node])
        nodes[node].length = UInt32(token.text.count)
        at += token.text.count
    }

    /// Reads a string, a value or a name.
    ///
    /// - Returns: its node, without a length.
    private mutating func string() throws(JSONSyntaxError) -> Int {
        let node = append(gb_json_string)
        var (end, isEscaped) = (at + 1, false)
        scan: while end < text.count {
            switch text[end] {
            case UInt8(ascii: "\""): break scan
            case UInt8(ascii: "\\"):
                // The byte behind it is no end of the string, whatever it is.
                isEscaped = true
                end += 2
            case 0..<0x20: throw .notJSON(at: end)
            default: end += 1
            }
        }
        guard end < text.count else { throw .notJSON(at: text.count) }
        var content = UnsafeBufferPointer(rebasing: text[at + 1..<end])
        if isEscaped {
            guard let unescaped = strings.unescaped(content) else { throw fault }
            content = unescaped
        }
        nodes[node].payload.string = content.baseAddress
        nodes[node].count = UInt32(content.count)
        at = end + 1
        return node
    }

    // MARK: Bytes

    private var fault: JSONSyntaxError { .notJSON(at: at) }

    private func byte(at position: Int) -> UInt8? { position < text.count ? text[position] : nil }

    /// Passes over white space; the byte behind it, nil at the end.
    private mutating func peek() -> UInt8? {
        while let unit = byte(at: at) {
            guard unit == 0x20 || unit == 0x0A || unit == 0x0D || unit == 0x09 else { return unit }
            at += 1
        }
        return nil
    }

    private mutating func pass(_ unit: UInt8) throws(JSONSyntaxError) {
        guard peek() == unit else { throw fault }
        at += 1
    }
}
