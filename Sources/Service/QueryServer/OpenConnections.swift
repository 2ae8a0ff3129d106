import DequeModule
import NIOCore
import Runtime
import Synchronization

/// The connections that are open, and which of them give way to new ones: those that have asked for
/// nothing yet, or have not logged in where that is required.
final class OpenConnections: Sendable {
    private struct Open {
        let handler: ConnectionHandler
        let channel: any Channel
        var isSilent = true
    }

    /// The silent connections of an address, the oldest first. Some may have ended or spoken since.
    private struct Silent {
        var keys: Deque<ObjectIdentifier> = []
        var count = 0
    }

    private struct State {
        var open: [ObjectIdentifier: Open] = [:]
        var silent: [String: Silent] = [:]
        /// Called once, when the last connection is closed.
        var whenEmpty: (@Sendable () -> Void)?

        /// A connection has asked for something, or has ended.
        mutating func noteArrival(_ key: ObjectIdentifier, of address: String) {
            guard open[key]?.isSilent == true, var silent = silent[address] else { return }
            open[key]!.isSilent = false
            self.silent[address] = nil  // or changing it would copy it
            silent.count -= 1
            guard silent.count > 0 else { return }
            if silent.keys.count > 2 * silent.count + 16 {
                silent.keys.removeAll { open[$0]?.isSilent != true }
            }
            self.silent[address] = silent
        }

        mutating func takeSilent(of address: String?) -> Open? {
            guard let address = address ?? silent.max(by: { $0.value.count < $1.value.count })?.key
            else { return nil }
            while let key = silent[address]?.keys.popFirst() {
                guard let found = open[key], found.isSilent else { continue }
                noteArrival(key, of: address)
                return found
            }
            return nil
        }

        mutating func takeWhenEmpty() -> (@Sendable () -> Void)? {
            guard open.isEmpty else { return nil }
            defer { whenEmpty = nil }
            return whenEmpty
        }
    }

    private let state = Mutex(State())
    private let refusals = Atomic(0)

    /// At most this many refused connections at once get a reason; any more are closed without one.
    private static let answeredRefusals = 1_000

    /// Whether a refused connection can be given a reason.
    func admitRefusal(_ channel: any Channel) -> Bool {
        guard refusals.add(1, ordering: .relaxed).newValue <= Self.answeredRefusals else {
            refusals.subtract(1, ordering: .relaxed)
            return false
        }
        channel.closeFuture.whenComplete { _ in self.refusals.subtract(1, ordering: .relaxed) }
        return true
    }

    var count: Int { state.withLock { $0.open.count } }

    func add(_ handler: ConnectionHandler, _ channel: any Channel, from address: String) {
        let key = ObjectIdentifier(handler)
        state.withLock { state in
            state.open[key] = Open(handler: handler, channel: channel)
            state.silent[address, default: Silent()].count += 1
            state.silent[address]!.keys.append(key)
        }
        handler.onArrival = { self.state.withLock { $0.noteArrival(key, of: address) } }
        channel.closeFuture.whenComplete { _ in
            let whenEmpty = self.state.withLock { state in
                state.noteArrival(key, of: address)
                state.open[key] = nil
                return state.takeWhenEmpty()
            }
            whenEmpty?()
        }
    }

    /// Ends the oldest silent connection of an address, or of that with the most.
    ///
    /// - Returns: whether there is one.
    func makeRoom(for address: String?) -> Bool {
        let open = state.withLock { $0.takeSilent(of: address) }
        guard let open else { return false }
        open.channel.eventLoop.execute { open.handler.giveWay() }
        return true
    }

    /// Lets every connection answer what it has read, and waits for all writes in progress, those
    /// of closed connections included. Connections that are still open after `time` are closed.
    func drain(
        for time: Duration, _ room: WriteRoom, timedBy loop: any EventLoop
    ) -> EventLoopFuture<Void> {
        let all = state.withLock { Array($0.open.values) }
        for one in all { one.channel.eventLoop.execute { one.handler.drain() } }
        let drained = loop.makePromise(of: Void.self)
        // Completed once: what comes after the deadline may find the loop gone.
        let open = Mutex<EventLoopPromise<Void>?>(drained)
        let end: @Sendable () -> Void = {
            let promise = open.withLock { open in
                defer { open = nil }
                return open
            }
            promise?.succeed()
        }
        let deadline = loop.scheduleTask(in: TimeAmount(time), end)
        let whenEmpty = state.withLock { state in
            state.whenEmpty = { room.whenEmpty(end) }
            return state.takeWhenEmpty()
        }
        whenEmpty?()
        return drained.futureResult.always { _ in
            deadline.cancel()
            for one in all { one.channel.close(promise: nil) }
        }
    }
}
