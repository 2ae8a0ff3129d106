/// What a JSON text of any size is made of: one value or several, and where the arrays of objects
/// in it are. It reads once through the text and keeps nothing of it but short members.
struct JSONOutline {
    /// An array of objects inside the objects of the text.
    struct List: Sendable {
        /// The names that lead to it.
        let path: [String]
        /// Where its bracket is, in bytes from the text's beginning.
        let offset: Int
        var count = 0
        var bytes = 0

        var name: String { path.joined(separator: ".") }
    }

    /// The arrays whose first element is an object, in the order of the text.
    private(set) var lists: [List] = []
    /// The first-level members with a short text, each with it.
    private(set) var members: [String: String] = [:]
    /// Whether the text is one value and nothing behind it.
    private(set) var isOneValue = false
    /// Bytes of the text.
    private(set) var bytes = 0

    private static let mostLevels = 4
    private static let memberBytes = 4_096

    private enum Container {
        case object
        /// An array, and its index in `lists` if it is one of them.
        case array(list: Int?)
    }

    private var open: [Container] = []
    private var names: [String] = []
    private var isInString = false
    private var isEscaped = false
    private var expectsName = false
    private var name: [UInt8]?
    /// The member that is being kept.
    private var member: (name: String, text: [UInt8])?
    /// Whether the next value is the first of an array that objects alone lead to.
    private var isFresh = false
    private var listOffset = 0
    /// Arrays that are open.
    private var arrays = 0
    /// Whether the first value has ended.
    private(set) var hasEnded = false
    /// Whether there is a line break inside of it.
    private(set) var spansLines = false

    /// Reads on; false when the answer is known.
    mutating func read(_ chunk: UnsafeBufferPointer<UInt8>) -> Bool {
        for byte in chunk {
            step(byte)
            bytes += 1
            if hasEnded, !isOneValue { return false }
        }
        return true
    }

    private mutating func step(_ byte: UInt8) {
        if isInString { return insideString(byte) }
        if byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            if byte == 0x0A, !hasEnded { spansLines = true }
            return
        }
        if hasEnded {
            isOneValue = false
            return
        }
        if member != nil, byte != UInt8(ascii: ","), !(byte == UInt8(ascii: "}") && open.count == 1)
        {
            keep(byte)
        }
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
            if expectsName, arrays == 0, open.count <= Self.mostLevels { name = [] }
            isFresh = false
        case UInt8(ascii: "{"): beginObject()
        case UInt8(ascii: "["): beginArray()
        case UInt8(ascii: "}"), UInt8(ascii: "]"): end()
        case UInt8(ascii: ":"): beginValue()
        case UInt8(ascii: ","): goOn()
        default: isFresh = false
        }
    }

    private mutating func insideString(_ byte: UInt8) {
        if member != nil { keep(byte) }
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
            return
        }
        if name != nil, name!.count < 200 { name!.append(byte) }
    }

    private mutating func keep(_ byte: UInt8) {
        member!.text.append(byte)
        if member!.text.count > Self.memberBytes { member = nil }
    }

    private mutating func beginValue() {
        guard expectsName, let name else {
            expectsName = false
            return
        }
        let text = String(decoding: name, as: UTF8.self)
        if names.count == open.count { names[names.count - 1] = text } else { names.append(text) }
        if open.count == 1 { member = (text, []) }
        self.name = nil
        expectsName = false
        isFresh = true
    }

    private mutating func goOn() {
        if open.count == 1 { closeMember() } else if member != nil { keep(UInt8(ascii: ",")) }
        if case .object? = open.last { expectsName = true }
    }

    private mutating func closeMember() {
        if let member { members[member.name] = String(decoding: member.text, as: UTF8.self) }
        member = nil
    }

    private mutating func beginObject() {
        // An object as an array's element.
        if case .array(let list)? = open.last {
            if let list {
                lists[list].count += 1
            } else if isFresh {
                let path = Array(names.prefix(open.count - 1))
                lists.append(List(path: path, offset: listOffset, count: 1))
                open[open.count - 1] = .array(list: lists.count - 1)
            }
        }
        open.append(.object)
        expectsName = true
        isFresh = false
    }

    private mutating func beginArray() {
        // Only arrays that objects alone lead to.
        isFresh = arrays == 0 && open.count < Self.mostLevels
        open.append(.array(list: nil))
        arrays += 1
        listOffset = bytes
        expectsName = false
    }

    private mutating func end() {
        if open.count == 1 { closeMember() }
        if case .array(let list?)? = open.last { lists[list].bytes = bytes - lists[list].offset }
        if case .array? = open.popLast() { arrays -= 1 }
        while names.count > open.count { names.removeLast() }
        expectsName = false
        isFresh = false
        if open.isEmpty {
            hasEnded = true
            isOneValue = true
        }
    }
}
