import NIOCore
import Objects
import ServiceDesk
import Synchronization

/// How many connections a listener for HTTP has, and how long each may take.
package struct HTTPConnectionLimits: Sendable {
    /// The most connections.
    package var connections: Int
    /// The most connections from one address…
    package var connectionsPerAddress: Int
    /// …unless it is that of a proxy, which has connections of many.
    package var isProxy: @Sendable (SocketAddress?) -> Bool = { _ in false }
    /// Milliseconds from the beginning of a connection to the end of its first request's head.
    package var requestMilliseconds: Int
    /// Milliseconds of any other step: until a request is whole, until the next one, or until a part
    /// of an answer is read.
    package var idleMilliseconds: Int
    /// Milliseconds from a request's head to the first part of its answer.
    package var answerMilliseconds: Int
    /// Whether a connection that is being answered gives way to a new one if none waits.
    package var interruptsAnswers = true
    /// Bytes of a request's head.
    package var headBytes = 80 * 1_024
    /// Bytes that the kernel takes of answers that are not read; nil for as many as it likes. With
    /// few, a client that does not read asks for little.
    package var kernelBytes: Int?

    /// Those of health and metrics.
    package init(_ limits: Limits) {
        connections = limits.httpConnections
        connectionsPerAddress = limits.httpConnections
        requestMilliseconds = limits.httpRequestMilliseconds
        idleMilliseconds = limits.httpIdleMilliseconds
        answerMilliseconds = idleMilliseconds
        kernelBytes = 65_536
    }
}

/// The connections of a listener: which one is closed for a new one, their timeouts, and the memory
/// that they hold.
///
/// At the limit the connection that deserves least is closed, so nobody can block a port by holding
/// connections open: first those without a whole request, then those that wait for another, then those
/// that leave their answer unread; among equals one of the address with the most connections, and of
/// these the oldest. If none may be closed, the new one is.
final class HTTPConnections: Sendable {
    private struct State {
        var open: [ObjectIdentifier: HTTPConnection] = [:]
        var byAddress: [String: Int] = [:]
        /// Whether rounds go on.
        var isGoing = false

        mutating func add(_ connection: HTTPConnection) {
            open[ObjectIdentifier(connection)] = connection
            byAddress[connection.address, default: 0] += 1
        }

        mutating func remove(_ connection: HTTPConnection) {
            guard open.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
            let left = byAddress[connection.address]! - 1
            byAddress[connection.address] = left > 0 ? left : nil
        }

        /// The connection that deserves least, of an address or of all.
        func least(of address: String? = nil, _ now: NIODeadline) -> HTTPConnection? {
            var least: (connection: HTTPConnection, rank: (Int, Int, NIODeadline))?
            for connection in open.values where address == nil || connection.address == address {
                guard let (stage, since) = connection.merit(now) else { continue }
                let rank = (stage, -byAddress[connection.address]!, since)
                if least.map({ rank < $0.rank }) ?? true { least = (connection, rank) }
            }
            return least?.connection
        }
    }

    private let limits: HTTPConnectionLimits
    private let memory: ConnectionMemory
    /// The event loop of the rounds.
    private let loop: any EventLoop
    private let state = Mutex(State())

    init(limits: HTTPConnectionLimits, memory: ConnectionMemory, on loop: any EventLoop) {
        (self.limits, self.memory, self.loop) = (limits, memory, loop)
    }

    /// Takes a new connection in, or closes it.
    func admit(_ connection: HTTPConnection) {
        let address = connection.address
        let (refused, isFirst) = state.withLock { state -> (HTTPConnection?, Bool) in
            let now = NIODeadline.now()
            var refused: HTTPConnection?
            if !limits.isProxy(connection.channel.remoteAddress),
                state.byAddress[address] ?? 0 >= limits.connectionsPerAddress
            {
                refused = state.least(of: address, now) ?? connection
            } else if state.open.count >= limits.connections {
                refused = state.least(now) ?? connection
            }
            if refused === connection { return (refused, false) }
            if let refused { state.remove(refused) }
            state.add(connection)
            defer { state.isGoing = true }
            return (refused, !state.isGoing)
        }
        refused?.close()
        if refused === connection { return }
        connection.channel.closeFuture.whenComplete { [self] _ in
            state.withLock { $0.remove(connection) }
        }
        if isFirst { scheduleRound() }
    }

    /// Closes a connection that is not being answered, if there is one, to free its descriptor.
    func makeRoom() {
        let now = NIODeadline.now()
        let least = state.withLock { state -> HTTPConnection? in
            guard let least = state.least(now),
                least.merit(now)?.stage ?? .max < HTTPConnection.Stage.answering.rawValue
            else { return nil }
            state.remove(least)
            return least
        }
        least?.close()
    }

    // MARK: Rounds

    /// The time between two looks at all connections: a quarter of the shortest timeout, within bounds.
    private var interval: TimeAmount {
        let shortest = min(limits.requestMilliseconds, limits.idleMilliseconds)
        return .milliseconds(Int64(min(max(shortest / 4, 5), 100)))
    }

    private func scheduleRound() {
        loop.scheduleTask(in: interval) { [self] in
            let open = state.withLock { state in
                // The last round reports that nothing is held any more.
                state.isGoing = !state.open.isEmpty
                return Array(state.open.values)
            }
            let now = NIODeadline.now()
            for connection in open where connection.isLate(now) { connection.close() }
            evict(open)
            if !open.isEmpty { scheduleRound() }
        }
    }

    /// Ends connections while those of all ports together hold too much, the largest first.
    private func evict(_ open: [HTTPConnection]) {
        var users = open.map { (connection: $0, bytes: $0.bufferedBytes) }
        users.sort { $0.bytes < $1.bytes }
        var total = users.reduce(0) { $0 + $1.bytes }
        while memory.report(.init(total: total, largest: users.last?.bytes ?? 0), of: self),
            let (connection, bytes) = users.popLast(), bytes > 0
        {
            total -= bytes
            connection.close()
        }
    }
}
