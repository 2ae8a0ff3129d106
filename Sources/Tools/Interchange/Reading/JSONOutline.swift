/// What a text that begins with a JSON object is made of: one value or several, and where the arrays
/// of objects in it are. It reads ahead, once, and keeps nothing of the text but short members.
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
    /// Whether the first value has ended.
    private(set) var hasEnded = false
    /// Whether nothing stands behind it. In a pipe a value on one line may be the first of several.
    private(set) var isOneValue = false
    /// Whether there is a line break inside of it.
    private(set) var spansLines = false
    /// Its bytes, as far as they were read.
    private(set) var bytes = 0

    private let window: ByteWindow
    private let start: Int

    private static let mostLevels = 4
    private static let memberBytes = 4_096
    /// As much of a pipe is read.
    private static let pipeBytes = 1 << 20

    /// The text ends before the value does, or as much of it has been read as may be.
    private struct CutOff: Error {}

    /// - Throws: when a file cannot be read again from where the window is.
    init(_ window: ByteWindow) throws(InterchangeError) {
        (self.window, start) = (window, window.position)
        try window.lookAhead { read() }
    }

    private mutating func read() {
        do throws(CutOff) {
            try skipSpace()
            try object([])
            hasEnded = true
        } catch {}
        bytes = window.position - start
        guard hasEnded else { return }
        let space = window.bytes.prefix { UnsafeBufferPointer.isSpace($0) }.count
        window.consume(space)
        let isDry =
            window.count == 0 && window.source.isDry(afterMilliseconds: SampleLimit.patience)
        isOneValue = isDry ? spansLines : !((try? window.skipSpace()) ?? false)
    }

    // MARK: Values

    /// An object, at whose brace the window begins.
    private mutating func object(_ path: [String]) throws(CutOff) {
        consume(1)
        while true {
            try skipSpace()
            switch window.bytes[0] {
            case UInt8(ascii: "}"): return consume(1)
            case UInt8(ascii: "\""):
                let name = try name()
                try skipSpace()
                guard window.bytes[0] == UInt8(ascii: ":") else { continue }
                consume(1)
                try skipSpace()
                if path.isEmpty { try keep(name) }
                try value(path + [name])
            // A comma; whatever else it is, the parser will say.
            default: consume(1)
            }
        }
    }

    private mutating func value(_ path: [String]) throws(CutOff) {
        switch window.bytes[0] {
        case UInt8(ascii: "{") where path.count < Self.mostLevels: try object(path)
        case UInt8(ascii: "[") where path.count < Self.mostLevels: try array(path)
        default: try skip(JSONBoundary())
        }
    }

    private mutating func array(_ path: [String]) throws(CutOff) {
        let offset = window.position - start
        consume(1)
        try skipSpace()
        guard window.bytes[0] == UInt8(ascii: "{") else { return try skip(JSONBoundary(depth: 1)) }
        let index = lists.count
        lists.append(List(path: path, offset: offset))
        while window.bytes[0] != UInt8(ascii: "]") {
            if window.bytes[0] == UInt8(ascii: "{") { lists[index].count += 1 }
            try skip(JSONBoundary())
            try skipSpace()
            lists[index].bytes = window.position - start - offset
        }
        consume(1)
    }

    /// A name, without its quotes, at the first of which the window begins.
    private mutating func name() throws(CutOff) -> String {
        var end = JSONBoundary.end(of: 0, in: window.bytes)
        while end == nil {
            try grow()
            end = JSONBoundary.end(of: 0, in: window.bytes)
        }
        defer { consume(end!) }
        return UnsafeBufferPointer(rebasing: window.bytes[1..<(end! - 1)]).text
    }

    /// Keeps the text of a member's value if it is short.
    private mutating func keep(_ name: String) throws(CutOff) {
        while true {
            if let end = JSONBoundary.end(of: 0, in: window.prefix(Self.memberBytes)) {
                members[name] = window.prefix(end).text
                return
            }
            if window.count >= Self.memberBytes { return }
            try grow()
        }
    }

    // MARK: Bytes

    private mutating func skip(_ boundary: JSONBoundary) throws(CutOff) {
        var boundary = boundary
        while true {
            if let end = boundary.end(in: window.bytes, from: 0) { return consume(end) }
            consume(window.count)
            try grow()
        }
    }

    /// Moves to the next byte that is no white space.
    private mutating func skipSpace() throws(CutOff) {
        while true {
            consume(window.bytes.prefix { UnsafeBufferPointer.isSpace($0) }.count)
            if window.count > 0 { return }
            try grow()
        }
    }

    private func grow() throws(CutOff) {
        let mayRead = window.source.totalBytes != nil || window.position - start < Self.pipeBytes
        guard mayRead, window.grow() else { throw CutOff() }
    }

    private mutating func consume(_ count: Int) {
        if !spansLines, let line = window.firstIndex(of: UInt8(ascii: "\n")) {
            spansLines = line < count
        }
        window.consume(count)
    }
}
