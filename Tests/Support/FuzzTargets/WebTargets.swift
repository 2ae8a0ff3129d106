import GISSites
import Geodesy
import JSONText
import Objects
import QueryLanguage
import WebExchange

/// Addresses of the web port: a path and perhaps a query, as a client may send them.
enum WebTargets {
    /// A tile has one address. What is asked of its collection is JSON.
    static func tiles(_ bytes: [UInt8]) {
        let request = request(bytes)
        let path = request.path
        if path.count >= 3 {
            let numbers = Array(path.suffix(3))
            if let tile = try? TileAddress(numbers[0], numbers[1], numbers[2]) {
                precondition(tile.name == numbers.joined(separator: "/"))
            }
        }
        for segment in path {
            guard let collection = try? CollectionName(segment) else { continue }
            precondition((try? CollectionName(collection.text)) == collection)
            var clause = Clause.all
            if case .clause(let filter) = try? request.requestedQuery() { clause = filter }
            guard let question = try? ClusterQuestion(collection, of: request, clause) else {
                continue
            }
            let params = question.call(GridWindow(level: 4)).paramsText
            let bucket = try? JSONParser.reading(params) { $0["bucket"]?.string }
            precondition(bucket == collection.bucket.text)
        }
    }

    private static let shape = CollectionShape(
        geoField: FieldPath("p"),
        fields: [
            .init(path: "b", types: [.boolean]), .init(path: "n", types: [.integer, .null]),
            .init(path: "o", types: [.object]), .init(path: "o.s", types: [.string]),
            .init(path: "s", types: [.string, .decimal]),
        ])

    /// What is asked of a collection's features is a clause, and a page that has room.
    static func items(_ bytes: [UInt8]) {
        let request = request(bytes)
        guard let query = try? ItemsQuery(request, shape, Limits()) else { return }
        precondition((1...ItemsQuery.maximumLimit).contains(query.limit))
        FuzzTarget.check(query.clause)
    }

    /// The first byte says how long a file is. A part of it that is asked for lies in it, and is the same
    /// one if its ends are written out.
    static func ranges(_ bytes: [UInt8]) {
        guard let size = bytes.first.map(Int.init) else { return }
        let field = String(decoding: bytes.dropFirst(), as: UTF8.self)
        guard case .part(let part) = ByteRange(field, of: size) else { return }
        precondition(!part.isEmpty && part.lowerBound >= 0 && part.upperBound <= size)
        let written = "bytes=\(part.lowerBound)-\(part.upperBound - 1)"
        precondition(ByteRange(written, of: size) == .part(part))
    }

    /// The request for an address, which is the same one if it is written out.
    private static func request(_ bytes: [UInt8]) -> WebRequest {
        let request = WebRequest(.get, String(decoding: bytes, as: UTF8.self))
        let path = request.path.map(percentEncoded).joined(separator: "/")
        let query = request.query.map { "\(percentEncoded($0.name))=\(percentEncoded($0.value))" }
        let again = WebRequest(.get, "/\(path)?\(query.joined(separator: "&"))")
        precondition(again.path == request.path)
        precondition(again.query.elementsEqual(request.query) { $0 == $1 })
        return request
    }
}
