import JSONText
import TestSupport

/// Streams of `GET /watch`.
extension Web {
    struct Event: Sendable {
        var name = ""
        var id: String?
        var data = ""

        var params: JSONValue? { try? JSONValue(parsing: Array(data.utf8)) }
    }

    /// A stream that is being read.
    struct Stream {
        let raw: RawConnection
        let status: String
        let head: [String]

        init(_ raw: RawConnection, _ query: String, headers: [String] = []) throws {
            self.raw = raw
            let lines = ["GET /watch?\(query) HTTP/1.1", "Host: localhost"] + headers
            try raw.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
            status = try raw.line() ?? ""
            var head: [String] = []
            while let line = try raw.line(), line != "\r" { head.append(line.lowercased()) }
            self.head = head
        }

        /// The next event; nil at the stream's end. Lengths of chunks are skipped: an event is
        /// one chunk.
        func next() throws -> Event? {
            var event = Event()
            while let line = try raw.line() {
                if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
                if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
                if line.hasPrefix("data: ") { event.data = String(line.dropFirst(6)) }
                if line.isEmpty, !event.name.isEmpty { return event }
                if line == "0\r" { return nil }
            }
            return nil
        }
    }
}
