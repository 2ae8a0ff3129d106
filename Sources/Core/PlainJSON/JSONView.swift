import CJSONNodes

/// The kind of a JSON value.
public enum JSONKind: Sendable, Equatable {
    /// The types of values in RFC 8259.
    case null, bool, number, string, array, object
    /// A number whose nearest binary64 is infinite, such as `1e400`.
    case huge
}

/// A borrowed value inside a parsed text: a position in the parser's list of nodes.
///
/// Valid until the parser parses again; nothing is copied. The pointers are the parser's own
/// buffers, which only its next parse or its end move.
public struct JSONView {
    let nodes: UnsafePointer<gb_json_node>
    let index: Int
    let source: UnsafePointer<UInt8>

    /// The value that a parser's list of nodes begins with.
    ///
    /// - Parameter source: the text that the nodes refer to.
    package init(root nodes: UnsafePointer<gb_json_node>, source: UnsafePointer<UInt8>) {
        self.init(nodes: nodes, index: 0, source: source)
    }

    private init(
        nodes: UnsafePointer<gb_json_node>, index: Int, source: UnsafePointer<UInt8>
    ) {
        self.nodes = nodes
        self.index = index
        self.source = source
    }

    /// What the value is, which decides which of the accessors are not nil.
    public var kind: JSONKind {
        switch nodes[index].kind {
        case gb_json_null: .null
        case gb_json_false, gb_json_true: .bool
        case gb_json_int64, gb_json_uint64, gb_json_double: .number
        case gb_json_huge: .huge
        case gb_json_string: .string
        case gb_json_array: .array
        default: .object
        }
    }

    /// The value's text as it was written, quotes and brackets included.
    public var text: UnsafeBufferPointer<UInt8> {
        let node = nodes[index]
        return UnsafeBufferPointer(start: source + Int(node.start), count: Int(node.length))
    }

    /// The byte offset of the value in the parsed text.
    public var range: Range<Int> {
        let node = nodes[index]
        return Int(node.start)..<Int(node.start) + Int(node.length)
    }

    /// The number of values and member names in it, itself included, which is the cost of examining
    /// it; computed in O(1).
    public var nodeCount: Int { Int(nodes[index].next) - index }

    /// The value of `true` or `false`; nil for anything else.
    public var bool: Bool? {
        switch nodes[index].kind {
        case gb_json_true: true
        case gb_json_false: false
        default: nil
        }
    }

    /// A number by value; nil for anything else, and for one of kind `huge`.
    public var number: JSONNumber? {
        let node = nodes[index]
        return switch node.kind {
        case gb_json_int64: .integer(node.payload.integer)
        case gb_json_uint64: .unsigned(node.payload.unsigned_integer)
        case gb_json_double: .decimal(node.payload.number)
        default: nil
        }
    }

    /// The string's code points as UTF-8, escapes resolved.
    public var utf8: UnsafeBufferPointer<UInt8>? {
        let node = nodes[index]
        guard node.kind == gb_json_string else { return nil }
        return UnsafeBufferPointer(start: node.payload.string, count: Int(node.count))
    }

    /// A copy of the string, escapes resolved; nil for anything else. O(bytes).
    public var string: String? { utf8.map { String(decoding: $0, as: UTF8.self) } }

    /// Elements of an array or members of an object; 0 for anything else.
    public var count: Int {
        let node = nodes[index]
        return node.kind == gb_json_array || node.kind == gb_json_object ? Int(node.count) : 0
    }

    /// Levels of nested arrays and objects, itself included; 0 for anything else.
    public var depth: Int {
        switch kind {
        case .array: elements.reduce(1) { max($0, 1 + $1.depth) }
        case .object: members.reduce(1) { max($0, 1 + $1.value.depth) }
        default: 0
        }
    }

    /// The elements of an array; none for anything else.
    public var elements: Elements {
        Elements(view: self, remaining: nodes[index].kind == gb_json_array ? count : 0)
    }

    /// The members of an object in the order of the text, duplicates included; none for anything
    /// else.
    public var members: Members {
        Members(view: self, remaining: nodes[index].kind == gb_json_object ? count : 0)
    }

    /// The value of a member by its name's UTF-8; the last of duplicates.
    public func member(_ name: UnsafeBufferPointer<UInt8>) -> JSONView? {
        var found: JSONView?
        for member in members where member.name.elementsEqualBytes(name) { found = member.value }
        return found
    }

    /// The value of a member, the last of duplicates; nil if there is none or this is no object.
    /// O(members).
    public subscript(_ name: StaticString) -> JSONView? {
        member(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }

    /// The indices of members that a later one of the same name hides.
    ///
    /// - Complexity: O(members), whatever their names are.
    public func hiddenMembers() -> Set<Int> {
        var names = MemberNames(atMost: count)
        /// The position of the last member of each name.
        var last: [Int] = []
        last.reserveCapacity(count)
        var hidden: Set<Int> = []
        for (position, member) in zip(0..., members) {
            let (index, isNew) = names.enter(member.name)
            if isNew {
                last.append(position)
            } else {
                hidden.insert(last[index])
                last[index] = position
            }
        }
        return hidden
    }

    /// Whether both are the same value of the same parsed text.
    public func isSameValue(as other: JSONView) -> Bool {
        nodes == other.nodes && index == other.index
    }

    fileprivate func sibling(at index: Int) -> JSONView {
        JSONView(nodes: nodes, index: index, source: source)
    }

    fileprivate var next: Int { Int(nodes[index].next) }
    fileprivate var start: Int { Int(nodes[index].start) }

    /// The elements of an array one by one, in O(1) each.
    public struct Elements: Sequence, IteratorProtocol {
        private var at: JSONView
        private var remaining: Int

        fileprivate init(view: JSONView, remaining: Int) {
            at = view.sibling(at: view.index + 1)
            self.remaining = remaining
        }

        public mutating func next() -> JSONView? {
            guard remaining > 0 else { return nil }
            remaining -= 1
            defer { at = at.sibling(at: at.next) }
            return at
        }
    }

    /// A name and its value in a parsed object.
    public struct Member {
        fileprivate let key: JSONView
        /// What the name stands for.
        public let value: JSONView

        /// The member's name as UTF-8, escapes resolved.
        public var name: UnsafeBufferPointer<UInt8> { key.utf8! }

        /// The member's text as it was written, from the name's first quote to the value's end.
        public var text: UnsafeBufferPointer<UInt8> {
            let end = value.start + value.text.count
            return UnsafeBufferPointer(start: key.source + key.start, count: end - key.start)
        }

        /// The name's text as it was written, quotes included and whatever stands before the value.
        public var nameText: UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(start: key.source + key.start, count: value.start - key.start)
        }
    }

    /// The members of an object one by one, in O(1) each.
    public struct Members: Sequence, IteratorProtocol {
        private var at: JSONView
        private var remaining: Int

        fileprivate init(view: JSONView, remaining: Int) {
            at = view.sibling(at: view.index + 1)
            self.remaining = remaining
        }

        public mutating func next() -> Member? {
            guard remaining > 0 else { return nil }
            remaining -= 1
            let value = at.sibling(at: at.index + 1)
            defer { at = at.sibling(at: value.next) }
            return Member(key: at, value: value)
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Byte equality: of strings as sequences of code points, unlike `String`'s `==`.
    @inlinable
    public func elementsEqualBytes(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for i in 0..<count where self[i] != other[i] { return false }
        return true
    }

    /// Byte equality with a literal's UTF-8.
    @inlinable
    public func elementsEqualBytes(_ other: StaticString) -> Bool {
        elementsEqualBytes(
            UnsafeBufferPointer(start: other.utf8Start, count: other.utf8CodeUnitCount))
    }

    /// Byte equality with an array.
    @inlinable
    public func elementsEqualBytes(_ other: [UInt8]) -> Bool {
        other.withUnsafeBufferPointer { elementsEqualBytes($0) }
    }
}
