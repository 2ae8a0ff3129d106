import GeoBucketClient
import Synchronization

/// The turn of one operation with an object that was called with a block. It begins when those that
/// were called before have ended.
struct Turn: Sendable {
    private typealias End = AsyncStream<Never>

    private struct Last {
        let number: Int
        let end: End
        /// Whether it and all that are under way save.
        let isSave: Bool
    }

    /// The last turns by object. An object that has one is in use, so nothing else is identified as it
    /// is.
    private static let last = Mutex<[ObjectIdentifier: Last]>([:])

    private let object: ObjectIdentifier
    private let former: Last?
    private let number: Int
    private let end: End.Continuation

    /// Takes the next turn.
    ///
    /// - Parameter isSave: whether it saves the object.
    init(of object: GeoObject, isSave: Bool) {
        let (stream, end) = End.makeStream()
        let id = ObjectIdentifier(object)
        let (former, number) = Self.last.withLock { last in
            let former = last[id]
            let number = (former?.number ?? 0) + 1
            last[id] = Last(
                number: number, end: stream, isSave: isSave && former?.isSave ?? true)
            return (former, number)
        }
        (self.object, self.former, self.number, self.end) = (id, former, number, end)
    }

    /// The object as it was at the call, behind the operations that were under way then.
    ///
    /// - Parameter present: the object as it is now.
    func object(_ copy: GeoObject.State, now present: GeoObject.State) -> GeoObject.State {
        guard let former else { return copy }
        // A version that was read since is not one that the app has seen.
        return copy.after(present, withVersion: former.isSave)
    }

    /// Returns when the turn begins. It has to be ended then.
    func begin() async {
        if let former { for await _ in former.end {} }
    }

    func finish() {
        Self.last.withLock { last in
            if last[object]?.number == number { last[object] = nil }
        }
        end.finish()
    }
}
