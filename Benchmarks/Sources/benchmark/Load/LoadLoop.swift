import CEpoll
import Glibc
import Histogram

/// Connections that send one kind of request.
struct LoadGroup {
    var connections: [Connection]
    var requests: RequestSet
    /// Requests a second, sent on time whether or not earlier ones have been answered (an open
    /// loop); nil: each connection sends its next when it has its answer (a closed loop).
    var rate: Double?
    /// Requests that a connection of a closed loop sends at once.
    var depth = 1
}

/// What a group saw in the measured time.
struct LoadResult {
    /// Nanoseconds from when a request was due to the end of its answer, or of the last of those that
    /// were sent at once.
    var latencies = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    var answers = 0
    var failures = 0
    var bytes = 0
}

/// The load generator: one thread, one epoll, requests encoded beforehand, answers skipped over.
///
/// The loop runs `warmUp` seconds unmeasured, then measures for `seconds`, longer when few answers
/// have come (at most ten seconds); then it takes in what is under way.
struct LoadLoop {
    private var groups: [LoadGroup]
    private var results: [LoadResult]
    /// The group of each connection, by the key it has in the epoll.
    private var owners: [(group: Int, connection: Connection)] = []
    /// By group: when the next request of an open loop is due.
    private var due: [UInt64]
    private let epoll = epoll_create1(0)
    private var isMeasuring = false
    private var isSending = true

    init(_ groups: [LoadGroup]) throws {
        self.groups = groups
        results = groups.map { _ in LoadResult() }
        due = groups.map { _ in now() }
        for (number, group) in groups.enumerated() {
            for connection in group.connections {
                let key = UInt32(owners.count)
                owners.append((number, connection))
                guard gb_epoll_add(epoll, connection.fd, key) == 0 else {
                    throw Failure("epoll_ctl: \(errno)")
                }
            }
        }
        gb_precise_timers()
    }

    /// Runs the load; `measured` brackets the measured time.
    mutating func run(
        warmUp: Double, seconds: Double, measured: (_ isBegin: Bool) -> Void
    ) throws -> (results: [LoadResult], seconds: Double) {
        defer { close(epoll) }
        for (group, connection) in owners where groups[group].rate == nil {
            connection.startedAt = now()
            try groups[group].requests.sendNext(groups[group].depth, on: connection)
        }
        try turn(until: now() + nanoseconds(warmUp))
        measured(true)
        let begin = now()
        isMeasuring = true
        try turn(until: begin + nanoseconds(seconds))
        while results[0].answers < 20, now() < begin + nanoseconds(max(10, seconds)) {
            try turn(until: now() + nanoseconds(0.25))
        }
        isMeasuring = false
        let end = now()
        measured(false)
        isSending = false
        let deadline = end + nanoseconds(60)
        while owners.contains(where: { $0.connection.isBusy }) {
            guard now() < deadline else { throw Failure("a peer does not answer") }
            try turn(until: now() + nanoseconds(0.002))
        }
        return (results, Double(end - begin) / 1e9)
    }

    private mutating func turn(until deadline: UInt64) throws {
        try withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
            while case let time = now(), time < deadline {
                let next = try sendDue(time)
                let wait = min(deadline, next) - min(time, deadline, next)
                let ready = gb_epoll_wait(epoll, events.baseAddress!, 64, Int64(wait))
                guard ready >= 0 || errno == EINTR else { throw Failure("epoll: \(errno)") }
                for event in 0..<max(0, Int(ready)) {
                    try receive(Int(gb_epoll_key(events.baseAddress! + event)))
                }
            }
        }
    }

    /// Sends what is due in open loops, as far as connections are free.
    ///
    /// - Returns: when something will be due that has a free connection.
    private mutating func sendDue(_ time: UInt64) throws -> UInt64 {
        var earliest = UInt64.max
        guard isSending else { return earliest }
        for number in groups.indices {
            guard let rate = groups[number].rate else { continue }
            for connection in groups[number].connections where !connection.isBusy {
                guard due[number] <= time else {
                    earliest = min(earliest, due[number])
                    break
                }
                connection.startedAt = due[number]
                due[number] += UInt64(1e9 / rate)
                try groups[number].requests.sendNext(on: connection)
            }
        }
        return earliest
    }

    private mutating func receive(_ key: Int) throws {
        let (group, connection) = owners[key]
        guard try connection.receive() else { return }
        let time = now()
        if isMeasuring {
            results[group].latencies.record(time - min(time, connection.startedAt))
            results[group].answers += connection.requests
            results[group].bytes += connection.answer.count
            if connection.isFailure { results[group].failures += 1 }
        }
        if isSending && groups[group].rate == nil {
            connection.startedAt = time
            try groups[group].requests.sendNext(groups[group].depth, on: connection)
        }
    }
}

/// Nanoseconds of a clock that only goes forward.
func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Seconds of processor time that this thread has used.
func threadSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

private func nanoseconds(_ seconds: Double) -> UInt64 { UInt64(seconds * 1e9) }
