import JSONText
import Synchronization
import WebExchange

/// What the service tells the map page of itself, as `map/settings.json`.
struct PageSettings: Sendable {
    /// The line port, which commands to copy name.
    let linePort: LinePort
    /// Whether the line port has TLS.
    let isLineEncrypted: Bool
    /// Whether the port has vector tiles and the OGC API.
    let hasGIS = GISSite.isIncluded
    /// What lies under the objects; nil for outlines.
    let basemap: Basemap?

    var answer: WebAnswer {
        var writer = JSONWriter()
        writer.raw("{\"isLineEncrypted\":")
        writer.raw(isLineEncrypted ? "true" : "false")
        writer.key("hasGIS")
        writer.raw(hasGIS ? "true" : "false")
        if let port = linePort.number {
            writer.key("linePort")
            writer.integer(Int64(port))
        }
        if let basemap {
            writer.key("basemap")
            basemap.write(into: &writer, tag: BasemapSite(basemap)?.tag)
        }
        writer.byte(UInt8(ascii: "}"))
        var answer = WebAnswer("application/json", writer.bytes)
        answer.headers[.cacheControl] = "no-cache"
        return answer
    }
}

/// The number of the line port, which is known once it listens.
public final class LinePort: Sendable {
    private let announced = Atomic<Int>(0)

    /// A port that does not listen yet.
    public init() {}

    /// Says on which port clients reach the lines.
    public func announce(_ number: Int) { announced.store(number, ordering: .relaxed) }

    var number: Int? {
        let number = announced.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }
}
