import Objects
import ServiceDesk

extension Connection {
    /// An event of a connection.
    enum Event {
        case activated
        /// The TLS handshake is complete.
        case secured
        /// The client speaks no JSON-RPC: the text that has just been parsed is answered, and nothing
        /// that follows.
        case foreign
        /// Bytes have arrived. More may follow, until `readCompleted`.
        case received(UnsafeRawBufferPointer)
        case readCompleted
        /// A text has been parsed.
        case found(ParsedText)
        /// Another thread has finished a job.
        case answered(FinishedAnswer)
        /// A notification of a watch may wait to be sent.
        case notified
        /// Notifications have waited long enough for the answer to a write.
        case overdue
        /// Whether the channel takes more output; if not, the client has to read first.
        case writability(Bool)
        /// The write queue has room again.
        case room
        /// All other connections have had their turn.
        case turn
        /// The client has closed its sending side.
        case inputClosed
        /// The server stops: accept no more input.
        case drained
        /// The periodic check.
        case checked(Check)
        /// This connection uses the most memory, and all together use too much.
        case evict
        /// All output has been sent, the final message included.
        case sent
        case ended
    }

    /// What the periodic check observes.
    struct Check {
        /// Nanoseconds of the monotonic clock.
        let now: Int64
        /// Bytes of answers that the client's side has not taken yet.
        var unsentBytes = 0
        /// Whether the client has logged in, or needs no login.
        var isWelcome = true
        /// Whether the client watches something.
        var isWatching = false
    }

    /// What a connection wants done.
    enum Action {
        /// Parse the next text and pass the result to `found` at once.
        case parse
        /// Parse a text on a worker thread.
        indirect case parseOnWorker(LongText)
        /// Carry out a request, or report that it has failed; then `answer`.
        case run(ServiceRequest)
        /// Append an answer to the output.
        case answer(FinishedAnswer)
        /// Append the next notification to the output; if there was one, `notified` follows.
        case notify
        /// Send `overdue` after a short time if `heldSince` is the same then.
        case hold
        /// Write the output to the channel.
        case flush
        /// Send `turn` after all other connections have had theirs.
        case awaitTurn
        /// Send `room` when the write queue has room.
        case awaitRoom
        /// Read from the channel, until `readCompleted`.
        case read
        /// Write a final message, and send `sent` when all output has been sent.
        case finish(FinalMessage)
        /// Close the sending side.
        case endOutput
        case close

        /// Whether so much time may pass that the clock has to be read again before `next`.
        var takesTime: Bool {
            switch self {
            case .run, .answer, .notify, .flush: true
            default: false
            }
        }

        /// Whether the action only parses, which precedes the work itself.
        var isParsing: Bool { if case .parse = self { true } else { false } }
    }

    /// The last line before the end.
    enum FinalMessage {
        case nothing
        /// A line took too long to end.
        case lineTooSlow
        /// The connection used the most memory.
        case memoryExceeded
        /// The client speaks TLS, the server does not.
        case refusalOfTLS
    }
}

/// The result of another thread's job.
///
/// Every event and action of a connection has room for one, so what is large is indirect.
enum FinishedAnswer: Sendable {
    case write(FinishedWrite)
    /// A read that waited may begin, or may not for a reason; its answer is still to come. `bytes`:
    /// how many had been received when the backend was asked.
    indirect case mayRead(ServiceRequest, ServiceFailure?, begin: Int64, bytes: Int)
    /// A request that was to be forwarded, whose bucket has come to this node meanwhile.
    indirect case arrived(ServiceRequest, begin: Int64)
    /// A read's answer without the punctuation of its line.
    indirect case read(id: String?, answer: [UInt8])
    /// What a read has waited for has come: it is among the notifications that have been fetched.
    indirect case waitedFor(ReadyRead)
    /// A notification of a watch waits.
    case notified
    /// Of a request that another node has forwarded.
    indirect case forOtherNode(NodeRequest, NodeRequest.Finished)
}
