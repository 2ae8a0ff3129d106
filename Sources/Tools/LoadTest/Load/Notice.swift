import JSONText
import NIOCore

/// A line of a service, as far as the generator looks into it.
enum Notice: Equatable {
    /// Events of a watch: how many, and which versions of objects they show.
    case events(Int, [EventDelays.Version])
    case snapshot
    case resync
    case end

    /// How the service begins a notification.
    static let head = Array(#"{"jsonrpc":"2.0","method":"#.utf8)

    /// Nil for a line that is no notification of a watch.
    init?(_ line: ByteBuffer, _ parser: JSONParser) {
        guard line.readableBytesView.starts(with: Self.head) else { return nil }
        let notice = line.reading(with: parser) { message -> Notice? in
            switch message["method"]?.string {
            case "watch.events": Self.events(of: message["params"])
            case "watch.snapshot": .snapshot
            case "watch.resync": .resync
            case "watch.end": .end
            default: nil
            }
        }
        guard let notice else { return nil }
        self = notice
    }

    private static func events(of params: JSONView?) -> Notice {
        var count = 0
        var versions: [EventDelays.Version] = []
        guard let events = params?["events"] else { return .events(0, []) }
        for event in events.elements {
            count += 1
            if let object = event["object"], let version = EventDelays.Version(object) {
                versions.append(version)
            }
        }
        return .events(count, versions)
    }
}

extension EventDelays.Version {
    /// Nil for an object without `_id` or `_version`.
    init?(_ object: JSONView) {
        guard let id = object["_id"]?.string, let version = object["_version"]?.number?.exactInt
        else { return nil }
        self.init(id: id, version: version)
    }
}

extension ByteBuffer {
    /// What `body` finds in the text; nil if that is not JSON. A parser that serves many lines spares
    /// each of them the making of one.
    func reading<Result>(with parser: JSONParser, _ body: (JSONView) -> Result?) -> Result? {
        withUnsafeReadableBytes { bytes in
            (try? parser.parse(bytes.bindMemory(to: UInt8.self))).flatMap(body)
        }
    }
}
