import GeoBucketClient
import Synchronization

/// The turn of one operation with an object that was called with a block. It begins when those that
/// were called before have ended.
struct Turn: Sendable {
    private typealias End = AsyncStream<Never>

    /// The ends of the last turns, by object and number. An object that has one is in use, so nothing
    /// else is identified as it is.
    private static let last = Mutex<[ObjectIdentifier: (number: Int, end: End)]>([:])

    private let object: ObjectIdentifier
    private let former: End?
    private let number: Int
    private let end: End.Continuation

    /// Takes the next turn.
    init(of object: GeoObject) {
        let (stream, end) = End.makeStream()
        let id = ObjectIdentifier(object)
        let (former, number) = Self.last.withLock { last in
            let former = last[id]
            let number = (former?.number ?? 0) + 1
            last[id] = (number, stream)
            return (former?.end, number)
        }
        (self.object, self.former, self.number, self.end) = (id, former, number, end)
    }

    /// Whether another operation was under way at the call.
    var isLater: Bool { former != nil }

    /// Returns when the turn begins. It has to be ended then.
    func begin() async {
        if let former { for await _ in former {} }
    }

    func finish() {
        Self.last.withLock { last in
            if last[object]?.number == number { last[object] = nil }
        }
        end.finish()
    }
}
