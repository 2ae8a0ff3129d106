import Objects
import ServiceDesk
import Testing

@testable import QueryServer

/// A connection's states, without sockets, threads and clocks.
@Suite struct ConnectionTests {
    // MARK: Answers

    @Test func `Pipelined requests are answered in their order, whatever takes how long`() {
        var run = ConnectionRun()
        run.receive("r1\nR2\nr3\nw4\nw5\nr6\n")
        #expect(run.sent == "r1\n")
        run.finishRead()
        #expect(run.sent == "r1\nR2\nr3\n")
        #expect(run.submitted.count == 2, "writes are queued one behind the other")
        run.finishWrite()
        #expect(run.sent == "r1\nR2\nr3\nw4\n")
        run.finishWrite()
        #expect(run.sent == "r1\nR2\nr3\nw4\nw5\nr6\n")
        #expect(run.isReading && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `A write that searches waits for what is before it, and what is behind it waits`() {
        var run = ConnectionRun()
        run.receive("w1\nw2\nd3\nw4\nr5\nd6\n")
        #expect(run.submitted.map(\.id) == ["w1", "w2"])
        run.finishWrite()
        #expect(run.submitted.map(\.id) == ["w2"])
        run.finishWrite()
        #expect(run.submitted.map(\.id) == ["d3"])
        run.finishWrite()
        #expect(run.submitted.map(\.id) == ["w4"] && run.sent == "w1\nw2\nd3\n")
        run.setRoom(false)
        run.finishWrite()
        #expect(run.sent == "w1\nw2\nd3\nw4\nr5\n" && run.submitted.isEmpty && run.isPaused)
        run.setRoom(true)
        #expect(run.submitted.map(\.id) == ["d6"])
        run.finishWrite()
        #expect(run.isReading && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `A batch is one line, of answers in order, without its notifications`() {
        var run = ConnectionRun()
        run.receive("[r1,n2,w3,x4,R5]\n[n6,n7]\nr8\n")
        #expect(run.sent == "[r1")
        run.finishWrite()
        #expect(run.sent == "[r1,w3,x4")
        run.finishRead()
        #expect(run.sent == "[r1,w3,x4,R5]\nr8\n")
        #expect(run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `A refused request is answered in its place, behind the writes before it`() {
        var run = ConnectionRun()
        run.receive("w1\nx2\n")
        #expect(run.sent == "")
        run.finishWrite()
        #expect(run.sent == "w1\nx2\n")
    }

    @Test func `What is looked at elsewhere holds up what is behind it, and nothing else does`() {
        var run = ConnectionRun()
        run.receive("Long\nr2\n")
        #expect(run.onWorker?.isAdmitted == true && run.sent == "" && !run.isReading)
        run.finishExamining()
        #expect(run.sent == "r4\nr2\n" && run.isReading)
        let long = String(repeating: "r", count: LongText.shortBytes)
        run.receive(long + "\n")
        #expect(run.sent.hasSuffix("\n" + long + "\n") && run.onWorker == nil)
        run.receive(long + "r\n")
        #expect(run.onWorker?.isAdmitted == false)
        run.finishExamining()
        run.receive("[\(long),n2,\(long)r]\n")
        #expect(run.onWorker?.bytes.count == 2 * long.utf8.count + 7, "the line is long")
        #expect(run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `A line that is too long is answered in its place`() {
        var limits = Limits()
        limits.lineBytes = 4
        var run = ConnectionRun(limits: limits)
        run.receive("R1\nrrrrr\nr2\n")
        run.finishRead()
        #expect(run.sent == "R1\nxLong\nr2\n")
    }

    // MARK: Bounds

    @Test(arguments: [1, 2, 3])
    func `No line is taken in beyond pipelinedRequests`(_ lines: Int) {
        var limits = Limits()
        limits.pipelinedRequests = 2
        var run = ConnectionRun(limits: limits)
        run.receive(String(repeating: "w\n", count: lines))
        #expect(run.submitted.count == min(lines, 2))
        #expect(run.isReading == (lines < 2))
        run.finishWrite()
        #expect(run.submitted.count == (lines == 1 ? 0 : lines - 1))
    }

    @Test(arguments: [5, 6, 7])
    func `No line is begun beyond pipelinedBytes`(_ bytes: Int) {
        var limits = Limits()
        limits.pipelinedBytes = 6
        var run = ConnectionRun(limits: limits)
        run.receive(String(repeating: "w", count: bytes) + "\n")
        #expect(run.isReading == (bytes < 6))
    }

    @Test func `Nothing is begun and nothing read for a client that does not read`() {
        var run = ConnectionRun()
        run.receive("R1\n")
        run.setWritable(false)
        run.receive("r2\n")  // asked for before
        run.finishRead()
        #expect(run.sent == "R1\n" && !run.isReading, "what was begun is answered")
        run.notify()
        #expect(run.sent == "R1\n")
        run.setWritable(true)
        #expect(run.sent == "R1\nN1\nr2\n" && run.isReading)
    }

    @Test func `Answers are handed out when they are more than half of outputBytes`() {
        var limits = Limits()
        limits.outputBytes = 10
        var run = ConnectionRun(limits: limits)
        run.handle(.writability(true))
        run.receive("r12\nr3\nr4\n")
        #expect(run.sent == "r12\nr3\nr4\n" && run.faults.isEmpty)
    }

    @Test func `A write waits for room, and is told once`() {
        var run = ConnectionRun()
        run.setRoom(false)
        run.receive("r1\nw2\nr3\n")
        #expect(run.sent == "r1\n" && run.isPaused && run.submitted.isEmpty)
        run.notify()
        run.setRoom(true)
        #expect(run.submitted.count == 1)
        run.finishAll()
        #expect(run.sent == "r1\nN1\nw2\nr3\n" && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `What is long at work waits for its turn, and begins one thing in each`() {
        var run = ConnectionRun()
        run.stepTime = Connection.turnTime + 1
        run.receive("r1\nr2\nr3\n")
        #expect(run.sent == "r1\n" && run.isQueued)
        run.giveTurn()
        #expect(run.sent == "r1\nr2\n" && run.isQueued)
        run.giveTurn()
        run.giveTurn()
        #expect(run.sent == "r1\nr2\nr3\n" && run.isReading && !run.isQueued)
        run.stepTime = 0
        run.receive("r4\n")
        #expect(run.sent.hasSuffix("r4\n"), "its last turn had nothing to do")
        let long = String(repeating: "r\n", count: Connection.longInput / 2 + 1)
        run.receive(long)
        #expect(run.isQueued && run.sent.hasSuffix("r4\n"), "long input")
        run.giveTurn()
        #expect(run.sent.utf8.count == long.utf8.count + 12 && run.faults.isEmpty)
    }

    // MARK: Notifications

    @Test func `Notifications stand between the lines, never within one`() {
        var run = ConnectionRun()
        run.receive("[r1,R2]\n")
        run.notify(3)
        #expect(run.sent == "[r1")
        run.finishRead()
        #expect(run.sent == "[r1,R2]\nN1\nN2\nN3\n")
        run.receive("R3\n")
        run.notify()
        #expect(run.sent.hasSuffix("N3\nN4\n"), "a read that is under way has not begun its line")
        run.finishRead()
        #expect(run.sent.hasSuffix("N4\nR3\n") && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `Notifications wait for the answer to a write, and are handed out with it`() {
        var run = ConnectionRun()
        run.receive("w1\nw2\n")
        run.notify()
        run.notify()
        #expect(run.sent == "" && run.connection.heldSince != nil && run.isReading)
        run.finishWrite()
        #expect(run.sent == "w1\nN1\nN2\n" && run.connection.heldSince == nil)
        run.notify()
        #expect(run.sent == "w1\nN1\nN2\n", "another write is in progress")
        run.finishWrite()
        #expect(run.sent.hasSuffix("\nw2\nN3\n") && run.faults.isEmpty, "\(run.faults)")
        run.notify()
        #expect(run.sent.hasSuffix("\nN3\nN4\n"), "no write is in progress")
    }

    @Test func `Notifications that have waited long enough for an answer wait no longer`() {
        var run = ConnectionRun()
        run.receive("w1\n")
        run.notify(2)
        run.setWritable(false)
        run.endHold()
        #expect(run.sent == "")
        run.setWritable(true)
        #expect(run.sent == "N1\nN2\n" && run.connection.heldSince == nil)
        run.notify()
        #expect(run.sent == "N1\nN2\n", "the next ones wait anew")
        run.endHold()
        #expect(run.sent == "N1\nN2\nN3\n" && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `An answer that promises notifications comes behind all of them`() {
        var run = ConnectionRun()
        run.receive("s1\nr2\n")
        run.notify()
        #expect(run.sent == "N1\n" && run.waiting != nil)
        run.setWritable(false)
        run.notify(2)
        run.tell()
        #expect(run.sent == "N1\n")
        run.setWritable(true)
        #expect(run.sent == "N1\nN2\nN3\ns1\nr2\n" && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `Of who watches, the answers of a batch are kept for what belongs before them`() {
        var run = ConnectionRun()
        run.notify()
        run.receive("[r1,s2,R3]\n")
        run.notify()
        #expect(run.connection.bufferedBytes == 13, "the line, and [r1 that is kept")
        run.notify()
        run.tell()
        #expect(run.sent == "N1\nN2\nN3\n")
        run.finishRead()
        #expect(run.sent == "N1\nN2\nN3\n[r1,s2,R3]\n" && run.faults.isEmpty, "\(run.faults)")
        #expect(run.connection.bufferedBytes == 0)
    }

    @Test(arguments: [3, 4, 5])
    func `Answers are kept as far as half of outputBytes`(_ bytes: Int) {
        var limits = Limits()
        limits.outputBytes = 10
        var run = ConnectionRun(limits: limits)
        run.notify()
        let word = "r" + String(repeating: "1", count: bytes - 1)
        run.receive("[\(word),s2,R3]\n")
        #expect((run.waiting == nil) == (bytes == 5), "a bracket stands before it")
        run.finishAll()
        #expect(run.sent == "N1\n[\(word),s2,R3]\n" && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `Notifications without end keep nobody from asking, and no other from its turn`() {
        var run = ConnectionRun()
        run.notificationTime = Connection.turnTime / 4
        run.notify(1_000)
        #expect(run.isQueued && run.isReading && run.untold > 990)
        run.receive("r1\nr2\n")
        run.giveTurn()
        #expect(run.sent.contains("\nr1\n") && run.sent.contains("\nr2\n") && run.isQueued)
        run.finishAll()
        #expect(run.untold == 0 && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `A client that ends its side is told what belongs before its answers, no more`() {
        var run = ConnectionRun()
        run.receive("s1\n")
        run.handle(.inputClosed)
        run.notify(2)
        #expect(run.sent == "N1\nN2\n" && !run.isFinishing)
        run.tell()
        #expect(run.sent == "N1\nN2\ns1\n" && run.isFinishing)
        run.notify()
        run.finishSending()
        #expect(run.isClosed && run.untold == 1 && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `A service that stops tells what waits before it closes`() {
        var run = ConnectionRun()
        run.setWritable(false)
        run.notify(2)
        run.handle(.drained)
        #expect(run.sent == "" && !run.isFinishing)
        run.setWritable(true)
        #expect(run.sent == "N1\nN2\n" && run.isFinishing && run.faults.isEmpty, "\(run.faults)")
    }

    // MARK: The end

    @Test func `A client that ends its side gets all its answers, then the end`() {
        var run = ConnectionRun()
        run.receive("w1\nR2\nr3\nunended")
        run.handle(.inputClosed)
        run.finishWrite()
        #expect(!run.isFinishing)
        run.finishRead()
        #expect(run.sent == "w1\nR2\nr3\n" && run.isFinishing && !run.isClosed)
        run.finishSending()
        #expect(run.isClosed && !run.hasEndedOutput)
    }

    @Test func `A service that stops answers what it has read, and lets the client close`() {
        var run = ConnectionRun()
        run.receive("R1\nr2\n")
        run.handle(.drained)
        run.finishRead()
        #expect(run.sent == "R1\nr2\n" && run.isFinishing && run.isReading)
        run.receive("r3\n")
        run.finishSending()
        #expect(run.hasEndedOutput && !run.isClosed && run.sent == "R1\nr2\n")
        #expect(run.isReading, "what still comes is dropped")
        run.handle(.inputClosed)
        #expect(run.isClosed && run.faults.isEmpty, "\(run.faults)")
    }

    @Test func `A client that does not close is waited for a moment`() {
        var run = ConnectionRun()
        run.handle(.drained)
        run.finishSending()
        run.check(at: 500)
        #expect(!run.isClosed)
        run.check(at: 501)
        #expect(run.isClosed)
    }

    @Test func `A client that speaks TLS is refused in TLS, if it begins so`() {
        var run = ConnectionRun()
        run.receive("\u{16}\u{3}hello")
        #expect(run.sent == "refusalOfTLS" && run.isFinishing)
        var other = ConnectionRun()
        other.receive("r1\n\u{16}\u{3}\n")
        #expect(other.sent.hasPrefix("r1\n") && !other.isFinishing)
    }

    @Test func `A connection that is shed is told so if nothing else is on its way`() {
        var run = ConnectionRun()
        run.handle(.evict)
        #expect(run.sent == "memoryExceeded" && run.isFinishing)
        var busy = ConnectionRun()
        busy.receive("R1\nr2\n")
        #expect(busy.connection.bufferedBytes == 5)
        busy.handle(.evict)
        #expect(busy.sent == "" && busy.isClosed && busy.connection.bufferedBytes == 0)
        var unread = ConnectionRun()
        unread.receive("r1\n")
        unread.check(at: 1, unsentBytes: 9)
        #expect(unread.connection.bufferedBytes == 9)
        unread.handle(.evict)
        #expect(unread.isClosed && unread.sent == "r1\n")
    }

    @Test func `When room comes, a write begins at once, however much has been sent behind it`() {
        var run = ConnectionRun()
        run.hasRoom = false
        let pings = String(repeating: "r\n", count: Connection.longInput / 2 + 1)
        run.receive("w1\n" + pings)
        // So much waits for a turn, in which there turns out to be no room.
        run.giveTurn()
        #expect(run.isPaused && run.submitted.isEmpty)
        run.setRoom(true)
        #expect(run.submitted.count == 1 && run.faults.isEmpty)
    }

    @Test func `Nothing is done for a connection that has ended`() {
        var run = ConnectionRun()
        run.receive("w1\nr2\n")
        run.handle(.ended)
        run.finishWrite()
        run.handle(.room)
        #expect(run.sent == "" && run.begun == 1 && run.faults.isEmpty)
    }
}
