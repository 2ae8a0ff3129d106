extension Connection {
    /// What may happen to a connection.
    enum Event {
        case activated
        /// TLS has been agreed on.
        case secured
        /// Bytes have come. More may follow, until `readCompleted`.
        case received(UnsafeRawBufferPointer)
        case readCompleted
        /// A text was looked at.
        case found(ParsedText)
        /// Another thread has done what it was given.
        case answered(FinishedAnswer)
        /// There is something to tell that nobody asked for.
        case noticed
        /// Whether more can be handed out, or the client has to read first.
        case writability(Bool)
        /// There is room for writes again.
        case room
        /// All others have been served.
        case turn
        /// The client sends no more.
        case inputClosed
        /// No more is to be taken in.
        case drained
        /// Time has passed.
        case looked(Look)
        /// It holds more than all others, and all together hold too much.
        case evict
        /// All that was handed out has been sent, the last words too.
        case sent
        case ended
    }

    /// What a look at a connection shows, from time to time.
    struct Look {
        /// Nanoseconds of a clock that does not go back.
        let now: Int64
        /// Bytes of answers that the client's side has not taken yet.
        var unsentBytes = 0
        /// Whether nobody has to log in, or the client has.
        var isWelcome = true
    }

    /// What there is to do for a connection.
    enum Action {
        /// Look at the text that is next, and at once receive what was `found`.
        case look
        /// Look at a text elsewhere.
        case examine(LongText)
        /// Run a read, here or elsewhere, or tell that the request has failed, and `answer`.
        case run(Request)
        case submit(Request)
        /// Put an answer into the output.
        case answer(FinishedAnswer)
        /// Put one notice into the output; where there are more, `noticed` follows.
        case notice
        /// Hand out what is in the output.
        case flush
        /// Send `turn` when all others have been served.
        case awaitTurn
        /// Send `room` when there is room for writes.
        case awaitRoom
        /// Read, until `readCompleted`.
        case read
        /// Hand out a last thing, and send `sent` when all has left.
        case finish(FinalMessage)
        /// Close the side that sends.
        case endOutput
        case close

        /// Whether it is only the beginning of something.
        var isLook: Bool { if case .look = self { true } else { false } }
    }

    /// What is said at the end.
    enum FinalMessage {
        case nothing
        /// A line took too long to end.
        case lineTooSlow
        /// It held more than all others.
        case memoryExceeded
        /// The client speaks TLS, the service does not.
        case refusalOfTLS
    }
}

/// What another thread has done.
enum FinishedAnswer: Sendable {
    case write(FinishedWrite)
    /// A read's answer is ready but for what stands around it in its line.
    case read(id: String?, answer: [UInt8])
}
