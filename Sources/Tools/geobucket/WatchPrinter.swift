import GeoBucketClient
import Interchange
import JSONText

/// Prints the events of a watch, and keeps its place in a file.
struct WatchPrinter: Sendable {
    private let format: WatchCommand.Format
    private let fields: [String]?
    private let resumeFile: String?

    /// - Parameters:
    ///   - fields: the names to show to people; nil shows all simple values.
    ///   - resumeFile: gets the token after what it stands for has been printed.
    init(_ format: WatchCommand.Format, fields: [String]?, resumeFile: String?) {
        self.format = format
        self.fields = fields
        self.resumeFile = resumeFile
    }

    func follow<Object: PrintedObject>(_ watch: Watch<Object>) async throws {
        var (isConnected, isCenterMissing) = (true, false)
        var (isFirst, token) = (true, String?.none)
        for try await state in watch {
            if state.isConnected != isConnected {
                isConnected = state.isConnected
                Console.error(
                    isConnected
                        ? "the connection is back" : "the connection is lost; trying again")
            }
            if state.isSnapshot, !isFirst {
                Console.error("not everything of the meantime is known; its result follows")
            }
            isFirst = false
            if state.centerIsMissing != isCenterMissing {
                isCenterMissing = state.centerIsMissing
                Console.error(
                    isCenterMissing
                        ? "the object at the centre is gone; its last position counts"
                        : "the object at the centre is back")
            }
            var output: [UInt8] = []
            for event in state.events {
                output += format == .lines ? try line(event) : json(event, state.change)
                output.append(UInt8(ascii: "\n"))
            }
            try Console.write(output)
            if let resumeFile, let next = state.resume, next != token {
                token = next
                try Files.replace(resumeFile, with: Array("\(next)\n".utf8))
            }
        }
    }

    private func line<Object: PrintedObject>(_ event: WatchEvent<Object>) throws -> [UInt8] {
        let sign =
            switch event.kind {
            case .entered: "+"
            case .changed: "~"
            case .left: "-"
            }
        var line = EventLine(
            sign, ids: [event.id], place: event.index, previous: event.previousIndex,
            fields: fields)
        if case .left(let reason) = event.kind {
            try event.object?.add(to: &line, withDistances: false)
            line.add(reason: reason.rawValue)
        } else {
            try event.object?.add(to: &line, withDistances: true)
        }
        return Array(line.text.utf8)
    }

    /// An event as in the protocol; `change` is that of the state that it led to.
    private func json<Object: PrintedObject>(_ event: WatchEvent<Object>, _ change: Int64)
        -> [UInt8]
    {
        var writer = JSONWriter()
        writer.raw("{\"event\":")
        writer.string(Object.name(of: event.kind))
        writer.key("change")
        writer.integer(change)
        if case .left(let reason) = event.kind {
            Object.writeID(event.id, to: &writer)
            writer.key("reason")
            writer.string(reason.rawValue)
        } else {
            event.object?.write(to: &writer)
            if let index = event.index {
                writer.key("index")
                writer.integer(index)
                if let previous = event.previousIndex, previous != index {
                    writer.key("from")
                    writer.integer(previous)
                }
            }
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }
}

/// What `geobucket watch` can print.
protocol PrintedObject: Sendable {
    /// `enter`, `change` or `leave`.
    static func name(of kind: WatchEvent<Self>.EventKind) -> String
    /// Appends members that say which object left.
    static func writeID(_ id: String, to writer: inout JSONWriter)
    /// Appends members with the object.
    func write(to writer: inout JSONWriter)
    func add(to line: inout EventLine, withDistances: Bool) throws
}

extension WatchedText: PrintedObject {
    static func name(of kind: WatchEvent<Self>.EventKind) -> String {
        switch kind {
        case .entered: "enter"
        case .changed: "change"
        case .left: "leave"
        }
    }

    static func writeID(_ id: String, to writer: inout JSONWriter) {
        writer.key("_id")
        writer.string(id)
    }

    func write(to writer: inout JSONWriter) {
        writer.key("object")
        writer.raw(json)
    }

    func add(to line: inout EventLine, withDistances: Bool) throws {
        try JSONParser.reading(json) { line.add($0, withDistances: withDistances) }
    }
}

extension Pair: PrintedObject {
    static func name(of kind: WatchEvent<Self>.EventKind) -> String {
        if case .left = kind { "part" } else { "meet" }
    }

    static func writeID(_ id: String, to writer: inout JSONWriter) {
        let ids = id.split(separator: " ").map(String.init)
        writer.raw(",\"ids\":[")
        writer.list(ids) { $1.string($0) }
        writer.byte(UInt8(ascii: "]"))
    }

    func write(to writer: inout JSONWriter) {
        Self.writeID("\(first) \(second)", to: &writer)
        guard let distance else { return }
        writer.key("distance")
        writer.double(distance)
    }

    func add(to line: inout EventLine, withDistances: Bool) {
        if withDistances, let distance { line.add(meters: distance) }
    }
}
