import PlainJSON

/// What a watch makes of the objects that the service tells: objects, models, pairs, or texts.
struct Watched<Object: Sendable>: Sendable {
    typealias Item = (id: String, object: Object)

    /// An element of a snapshot, or what an event tells about.
    ///
    /// - Throws: `ClientFailure.malformedAnswer`; `JSONMismatch` for an object that is no such model.
    let read: @Sendable (JSONView) throws -> Item
    /// Whether two objects of one id are equal, so that a snapshot has changed nothing.
    let isSame: @Sendable (Object, Object) -> Bool
    /// The value of a first-level name, predefined fields and `_calculated` included.
    let member: @Sendable (Object, String) -> JSONValue?

    static func id(_ view: JSONView) throws -> String {
        guard let id = view["_id"]?.string else {
            throw ClientFailure.malformedAnswer("an object of a watch has no _id")
        }
        return id
    }
}

extension Watched<GeoObject> {
    /// - Parameter isPartial: whether objects come with only some of their fields.
    static func objects(of bucket: Bucket, isPartial: Bool) -> Self {
        Self(
            read: {
                (try id($0), try GeoObject(bucket, document: $0, isPartial: isPartial))
            },
            isSame: { $0.document == $1.document }, member: { $0[$1] })
    }
}

extension Watched {
    static func models<Model>(
        of bucket: Bucket, isPartial: Bool
    ) -> Self where Object == Stored<Model> {
        let objects = Watched<GeoObject>.objects(of: bucket, isPartial: isPartial)
        return Self(
            read: {
                let (id, object) = try objects.read($0)
                return (id, try JSONMismatch.inside(id) { try Stored(object) })
            },
            isSame: { objects.isSame($0.object, $1.object) },
            member: { objects.member($0.object, $1) })
    }
}

extension Watched<Pair> {
    static let pairs = Self(
        read: { view in
            guard let ids = view["ids"], ids.count == 2,
                let first = ids.elements.first(where: { _ in true })?.string,
                let second = Array(ids.elements).last?.string
            else { throw ClientFailure.malformedAnswer("a pair of a watch has no two ids") }
            let pair = Pair(
                first: first, second: second, distance: view["distance"]?.number?.double)
            return (pair.id, pair)
        },
        isSame: { $0 == $1 }, member: { _, _ in nil })
}

/// Two objects that are near each other.
public struct Pair: Sendable, Hashable {
    /// The id of the object of the watched bucket; with the same bucket on both sides, of the older
    /// object.
    public let first: String
    /// The id of the other object.
    public let second: String
    /// How far apart they were when they met, or when the service last told; metres.
    public let distance: Double?

    /// Both ids, with a space between them, which no id has.
    var id: String { "\(first) \(second)" }
}

/// An object as the service wrote it.
package struct WatchedText: Sendable, Equatable {
    /// JSON text.
    package let json: [UInt8]
    private let members: JSONValue

    package static func == (a: Self, b: Self) -> Bool { a.json == b.json }

    /// The value of a first-level name.
    package subscript(name: String) -> JSONValue? { members[name] }

    init(_ view: JSONView) throws {
        json = Array(view.text)
        members = try JSONValue(view)
    }
}

extension Watched<WatchedText> {
    static let texts = Self(
        read: { (try id($0), try WatchedText($0)) }, isSame: ==, member: { $0[$1] })
}
