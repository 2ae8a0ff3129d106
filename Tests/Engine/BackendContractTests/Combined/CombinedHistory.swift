import Synchronization

/// What one bucket has been, moment by moment, and which of it a read may have seen.
///
/// Writes of a bucket are begun and answered in one order, and the clock moves only while none is
/// under way: both make the next moment. A read sees the state of some moment between the last that
/// was answered when it began and the last that had begun when it ended. What one read has seen, no
/// later one sees undone.
final class CombinedHistory: Sendable {
    struct Moment: Sendable {
        var bucket = ModelBucket()
        var time: Int
    }

    private struct State {
        /// The moments from `first` on.
        var moments: [Moment]
        var first = 0
        /// The latest moment that every read from now on has to know of.
        var known = 0
        /// From which moment on each read that is under way may see.
        var reads: [Int] = []

        var last: Int { first + moments.count - 1 }

        mutating func forget() {
            let needed = min(reads.min() ?? known, known)
            moments.removeFirst(needed - first)
            first = needed
        }
    }

    private let state: Mutex<State>

    init(time: Int) { state = Mutex(State(moments: [Moment(time: time)])) }

    /// The newest moment, whether it has been answered or not.
    var present: Moment { state.withLock { $0.moments.last! } }

    // MARK: Writing

    /// The next moment, which the clock or a write that is about to be sent makes.
    func begin<Result>(_ body: (inout Moment) -> Result) -> (number: Int, result: Result) {
        state.withLock { state in
            var moment = state.moments.last!
            let result = body(&moment)
            state.moments.append(moment)
            return (state.last, result)
        }
    }

    /// Says that a moment has come to pass.
    func know(_ number: Int) {
        state.withLock { state in
            state.known = max(state.known, number)
            state.forget()
        }
    }

    // MARK: Reading

    /// Begins a read.
    ///
    /// - Parameter number: a moment that it has to know of in any case.
    /// - Returns: the first moment that it may see.
    func beginRead(knowing number: Int = 0) -> Int {
        state.withLock { state in
            let first = max(state.known, number)
            state.reads.append(first)
            return first
        }
    }

    /// Ends a read: the moments that it may have seen, with the first one's number.
    func endRead(_ first: Int) -> (first: Int, moments: [Moment]) {
        state.withLock { state in
            state.reads.remove(at: state.reads.firstIndex(of: first)!)
            // Another read may have seen more meanwhile, but before this one began it had not.
            defer { state.forget() }
            return (first, Array(state.moments[(first - state.first)...]))
        }
    }
}

extension [CombinedHistory.Moment] {
    /// Each state that a read may have found, with its place here: a moment's objects as of that
    /// moment's time or, since a read asks for the time after it has taken hold of a state, a later
    /// one's. Ends with the first that `body` takes.
    func firstPosition(where body: ([ModelObject]) throws -> Bool) rethrows -> Int? {
        for position in indices {
            var tried: Int?
            for later in self[position...] where later.time != tried {
                tried = later.time
                let there = self[position].bucket.objects.filter { $0.isThere(at: later.time) }
                if try body(there) { return position }
            }
        }
        return nil
    }
}
