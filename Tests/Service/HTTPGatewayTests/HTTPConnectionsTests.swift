import NIOCore
import NIOEmbedded
import Objects
import ServiceDesk
import Testing

@testable import HTTPGateway

/// Which connection of a listener for HTTP is closed, for a new one and for the memory that it holds.
@Suite struct HTTPConnectionsTests {
    /// A listener on whose event loop the test is.
    private final class Listener {
        let loop = EmbeddedEventLoop()
        let connections: HTTPConnections
        let limits: HTTPConnectionLimits

        init(connections: Int, perAddress: Int, bufferedBytes: Int = 1_000) {
            var limits = HTTPConnectionLimits(Limits())
            limits.connections = connections
            limits.connectionsPerAddress = perAddress
            limits.interruptsAnswers = false
            self.limits = limits
            self.connections = HTTPConnections(
                limits: limits, memory: ConnectionMemory(limit: bufferedBytes), on: loop)
        }

        func open(from address: String = "a1") -> Client {
            let channel = EmbeddedChannel(loop: loop)
            let connection = HTTPConnection(channel, address: address, limits)
            connections.admit(connection)
            loop.run()
            return Client(connection: connection, channel: channel)
        }
    }

    private struct Client {
        let connection: HTTPConnection
        let channel: EmbeddedChannel

        var isClosed: Bool { channel.closeFuture.isFulfilled }

        /// A connection that waits for another request.
        func served() -> Client {
            answering().connection.noteAnswer(goesOn: true)
            return self
        }

        func answering() -> Client {
            connection.noteRequest()
            connection.noteWholeRequest()
            return self
        }
    }

    @Test func `An unfinished request gives way before a wait for the next, an answer never`() {
        let listener = Listener(connections: 3, perAddress: 3)
        let waits = listener.open().served()
        let begun = listener.open()
        begun.connection.noteRequest()
        let answered = listener.open().answering()
        let silent = listener.open()
        #expect([waits, begun, answered, silent].map(\.isClosed) == [false, true, false, false])
        let next = listener.open().answering()
        #expect([waits, silent, answered].map(\.isClosed) == [false, true, false])
        let last = listener.open().answering()
        #expect([waits, next, answered].map(\.isClosed) == [true, false, false])
        let refused = listener.open()
        #expect([next, answered, last, refused].map(\.isClosed) == [false, false, false, true])
    }

    @Test func `Among equals one of the address with the most gives way, and of these the oldest`()
    {
        let listener = Listener(connections: 4, perAddress: 4)
        let other = listener.open(from: "a2")
        let many = (0..<3).map { _ in listener.open() }
        let more = listener.open(from: "a3")
        #expect(many.map(\.isClosed) == [true, false, false])
        #expect([other, more].map(\.isClosed) == [false, false])
    }

    @Test func `An address at its bound gives way to itself`() {
        let listener = Listener(connections: 10, perAddress: 2)
        let other = listener.open(from: "a2")
        let own = (0..<3).map { _ in listener.open() }
        #expect(own.map(\.isClosed) == [true, false, false] && !other.isClosed)
        let busy = own[1...].map { $0.answering() }
        let refused = listener.open()
        #expect(busy.map(\.isClosed) == [false, false] && refused.isClosed && !other.isClosed)
    }

    @Test func `When all hold too much, the one that holds most is closed`() {
        let listener = Listener(connections: 10, perAddress: 10)
        let clients = [400, 600, 300].map { bytes in
            let client = listener.open().answering()
            client.connection.hold(bytes)
            return client
        }
        listener.loop.advanceTime(by: .milliseconds(200))
        #expect(clients.map(\.isClosed) == [false, true, false])
        // What waits to be read counts as what waits to be sent, and what somebody else keeps.
        clients[0].connection.noteWaiting(500)
        listener.loop.advanceTime(by: .milliseconds(200))
        #expect(clients.map(\.isClosed) == [true, true, false])
        clients[2].connection.count { 701 }
        listener.loop.advanceTime(by: .milliseconds(200))
        #expect(clients[2].isClosed)
    }

    @Test func `The line port's connections and these share one bound`() {
        let listener = Listener(connections: 10, perAddress: 10)
        let memory = ConnectionMemory(limit: 1_000)
        let connections = HTTPConnections(
            limits: listener.limits, memory: memory, on: listener.loop)
        let channel = EmbeddedChannel(loop: listener.loop)
        let connection = HTTPConnection(channel, address: "a1", listener.limits)
        connections.admit(connection)
        connection.hold(600)
        #expect(!memory.report(.init(total: 300, largest: 300), of: listener))
        listener.loop.advanceTime(by: .milliseconds(200))
        #expect(!channel.closeFuture.isFulfilled)
        // Too much now, but the largest connection is the other port's.
        #expect(!memory.report(.init(total: 500, largest: 500), of: listener))
        listener.loop.advanceTime(by: .milliseconds(200))
        #expect(channel.closeFuture.isFulfilled)
    }
}

extension EventLoopFuture {
    /// Whether it has a value or an error; on its loop.
    fileprivate var isFulfilled: Bool {
        nonisolated(unsafe) var isFulfilled = false
        whenComplete { _ in isFulfilled = true }
        return isFulfilled
    }
}
