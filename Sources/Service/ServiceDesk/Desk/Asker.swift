import BackendContract
import Objects

/// Who asks the desk for something and takes the answer: a door's side of a request.
///
/// `Desk.carryOut` calls what is not said to be called on any thread on the thread that called it.
package protocol Asker: AnyObject, Sendable {
    /// Who sends the request.
    var caller: Caller { get }

    /// The nodes that share the buckets; nil if this one has all of them, or no other is to be asked.
    var nodes: (any OtherNodes)? { get }

    /// Answers a read that takes little time, or a request that has failed.
    func answer(_ read: ReadyRead)

    /// Answers a read whose time has come, later than `carryOut`; on any thread.
    ///
    /// - Parameter stop: ends the read.
    func answer(_ read: ReadyRead, until stop: StopSignal?)

    /// Answers with the text that another node has given, or that this one made of all nodes' texts;
    /// on any thread.
    func answer(_ request: ServiceRequest, with text: [UInt8])

    /// Has a read wait until the backend lets it begin: `Desk.start` follows, or a failure.
    ///
    /// - Parameter change: the change that it has to see; nil if it names none.
    func hold(_ request: ServiceRequest, atLeast change: ChangeNumber?, since begin: Int64)

    /// Answers a request when what it waits for has come.
    func answer(_ request: ServiceRequest, after wait: Preparation.Wait, since begin: Int64)

    /// A write is about to be submitted.
    func begin(_ write: Write)

    /// Answers a write. On any thread; the writes of an asker end in the order in which they began.
    func finish(_ write: FinishedWrite)

    /// Has the desk carry out a request that was to be forwarded, and whose bucket has come to this
    /// node meanwhile; on any thread.
    func resume(_ request: ServiceRequest, since begin: Int64)

    /// Keeps what is under way for the request, to end it when the client is gone.
    func note(_ work: any WorkUnderWay)
}

/// What is done for a request and takes its time.
package protocol WorkUnderWay: AnyObject, Sendable {
    /// Ends it: nobody wants the answer.
    func end()

    /// Lets go of what it holds if it has waited for too long; the answer still comes.
    ///
    /// - Parameter now: by the monotonic clock.
    func letGo(now: Int64, _ limits: Limits)
}

extension WorkUnderWay {
    /// It holds nothing.
    package func letGo(now: Int64, _ limits: Limits) {}
}

extension StopSignal: WorkUnderWay {
    /// Gives the signal.
    package func end() { stop() }
}

/// A write that is durable and visible, or refused.
///
/// A class because it is large, and every event and action of a connection has room for one.
package final class FinishedWrite: Sendable {
    package let request: ServiceRequest
    package let write: Write
    package let result: Result<WriteAnswer, ServiceFailure>
    /// When its turn came, by the monotonic clock.
    package let begin: Int64

    package init(
        request: ServiceRequest, write: Write, result: Result<WriteAnswer, ServiceFailure>,
        begin: Int64
    ) {
        (self.request, self.write, self.result, self.begin) = (request, write, result, begin)
    }
}
