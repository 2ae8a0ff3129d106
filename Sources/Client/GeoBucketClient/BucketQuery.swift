import PlainJSON
import Synchronization

/// A query of a bucket: which objects, in which order, and how many a page.
///
///     let query = BucketQuery(clause: .greaterThan("score", value: 70))
///     query.sort(byDesc: "score")
///     query.limit = 10
///
/// A reference that is changed in place, like Kii's `KiiQuery`; safe to share between tasks.
public final class BucketQuery: Sendable {
    /// A field, or `_calculated.` with the name of a distance.
    public struct SortKey: Sendable, Equatable {
        /// A field path, or `_calculated.` with the name of a distance.
        public var field: String
        /// Whether large values come first.
        public var isDescending: Bool

        /// A key that sorts by a field path or a distance, ascending unless stated otherwise.
        public init(_ field: String, descending: Bool = false) {
            self.field = field
            isDescending = descending
        }
    }

    private struct State {
        var clause: Clause
        var order: [SortKey] = []
        var limit = 0
        var fields: [String]?
        var paginationKey: String?
    }

    private let state: Mutex<State>

    /// - Parameter clause: nil asks for every object.
    public convenience init(clause: Clause? = nil) {
        self.init(State(clause: clause ?? .all))
    }

    private init(_ state: State) { self.state = Mutex(state) }

    /// Which objects the query finds; it is fixed when the query is made.
    public var clause: Clause { state.withLock { $0.clause } }

    /// Sort keys, the first most significant; empty means the order of creation.
    public var order: [SortKey] {
        get { state.withLock { $0.order } }
        set { state.withLock { $0.order = newValue } }
    }

    /// Objects of one page; 0 means the service's limit.
    public var limit: Int {
        get { state.withLock { $0.limit } }
        set { state.withLock { $0.limit = newValue } }
    }

    /// First-level names to return besides `_id` and `_calculated`; nil means the whole object.
    public var fields: [String]? {
        get { state.withLock { $0.fields } }
        set { state.withLock { $0.fields = newValue } }
    }

    /// A copy that can be changed independently.
    public func copy() -> BucketQuery { BucketQuery(state.withLock { $0 }) }

    /// Sorts by one field, replacing any earlier order.
    public func sort(byAsc field: String) { order = [SortKey(field)] }
    /// Sorts by one field, large values first, replacing any earlier order.
    public func sort(byDesc field: String) { order = [SortKey(field, descending: true)] }
    /// The same as `sort(byAsc:)`: Kii's SDK has both spellings.
    public func sortByAsc(_ field: String) { sort(byAsc: field) }
    /// The same as `sort(byDesc:)`: Kii's SDK has both spellings.
    public func sortByDesc(_ field: String) { sort(byDesc: field) }

    /// The same query, for the page after the one that ended with a key.
    func next(_ paginationKey: String) -> BucketQuery {
        var state = state.withLock { $0 }
        state.paginationKey = paginationKey
        return BucketQuery(state)
    }

    /// The `bucketQuery` of a request.
    var document: JSONValue { Self.document(state.withLock { $0 }) }

    /// The members of a `bucket.query` request besides the bucket.
    var members: [JSONValue.Member] {
        let state = state.withLock { $0 }
        var members = [JSONValue.Member("bucketQuery", Self.document(state))]
        if state.limit != 0 { members.append(.init("bestEffortLimit", .int(state.limit))) }
        if let key = state.paginationKey { members.append(.init("paginationKey", .string(key))) }
        if let fields = state.fields {
            members.append(.init("fields", .array(fields.map(JSONValue.string))))
        }
        return members
    }

    private static func document(_ state: State) -> JSONValue {
        var members = [JSONValue.Member("clause", state.clause.json)]
        if !state.order.isEmpty {
            let keys = state.order.map {
                JSONValue.object([
                    "field": .string($0.field), "descending": .bool($0.isDescending),
                ])
            }
            members.append(.init("orderBy", .array(keys)))
        }
        return .object(members)
    }
}
