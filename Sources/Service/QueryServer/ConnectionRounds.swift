import NIOCore
import Objects
import Runtime
import ServiceDesk

/// Checks every connection of an event loop periodically: its timeouts, and the memory that it uses.
///
/// What is known of a connection is scattered in memory, so a check takes one or two microseconds.
/// Therefore a round goes over the connections in steps, and requests are answered in between;
/// and idle connections are checked less often.
///
/// Used on its event loop only.
final class ConnectionRounds {
    private let limits: Limits
    private let clock: ServiceClock
    private let memory: ConnectionMemory
    private let links: NodeLinks?
    private let eventLoop: any EventLoop
    private typealias Users = [ObjectIdentifier: any ScheduledConnection]
    private var active: Users = [:]
    private var idle: Users = [:]
    /// Those that the present round has not checked yet; some may be gone.
    private var unchecked: [ObjectIdentifier] = []
    /// The memory of those that it has checked.
    private var checked = Usage()
    /// The rounds that remain until those that are idle are checked.
    private var idleCountdown = 0
    /// When the present round began, and how many connections there were.
    private var beginning: (time: NIODeadline, connections: Int) = (.uptimeNanoseconds(0), 0)
    private var isGoing = false

    init(
        _ limits: Limits, _ clock: ServiceClock, _ memory: ConnectionMemory, links: NodeLinks?,
        on eventLoop: any EventLoop
    ) {
        self.limits = limits
        self.clock = clock
        self.memory = memory
        self.links = links
        self.eventLoop = eventLoop
    }

    func add(_ user: any ScheduledConnection) {
        active[ObjectIdentifier(user)] = user
        if !isGoing { begin() }
    }

    func remove(_ user: any ScheduledConnection) {
        active[ObjectIdentifier(user)] = nil
        idle[ObjectIdentifier(user)] = nil
    }

    /// Has an idle connection checked in every round again.
    func wake(_ user: any ScheduledConnection) {
        guard idle.removeValue(forKey: ObjectIdentifier(user)) != nil else { return }
        user.isIdle = false
        active[ObjectIdentifier(user)] = user
    }

    // MARK: Rounds

    /// The number of connections that are checked in one step.
    static let stepSize = 128

    /// The time between two checks of a connection: a quarter of the shortest timeout, within bounds.
    private var interval: TimeAmount {
        let shortest = min(
            limits.handshakeMilliseconds, limits.lineMilliseconds, limits.unreadMilliseconds,
            limits.idleMilliseconds)
        return .milliseconds(Int64(min(max(shortest / 4, 5), 100)))
    }

    /// The rounds between two checks of an idle connection.
    private var idleRounds: Int {
        let quarter = TimeAmount.milliseconds(Int64(limits.idleMilliseconds / 4))
        return Int(min(max(quarter.nanoseconds / interval.nanoseconds, 1), 10))
    }

    private func begin() {
        isGoing = true
        checked = Usage()
        unchecked = []
        idleCountdown -= 1
        if idleCountdown <= 0 {
            idleCountdown = idleRounds
            unchecked += idle.keys
        }
        unchecked += active.keys
        beginning = (eventLoop.now, unchecked.count)
        scheduleStep()
    }

    private func scheduleStep() {
        let steps = max(1, (beginning.connections + Self.stepSize - 1) / Self.stepSize)
        let pause = TimeAmount.nanoseconds(interval.nanoseconds / Int64(steps))
        eventLoop.assumeIsolated().scheduleTask(in: pause) { [self] in takeStep() }
    }

    private func takeStep() {
        let now = clock.nanoseconds()
        let time = eventLoop.now - beginning.time
        let share = Double(time.nanoseconds) / Double(interval.nanoseconds)
        for _ in 0..<Self.count(of: unchecked.count, ofAll: beginning.connections, at: share) {
            let id = unchecked.removeLast()
            if let user = active[id] ?? idle[id] { check(user, id, now) }
        }
        guard unchecked.isEmpty else { return scheduleStep() }
        links?.check(now: now)
        evict(now)
        // The last round had no connections, and has reported that they use nothing any more.
        isGoing =
            !active.isEmpty || !idle.isEmpty || checked.connections > 0
            || links?.isEmpty == false
        if isGoing { begin() }
    }

    /// The number of connections to check in a step. A busy loop takes its steps late, and then larger
    /// ones, so that a round takes no longer.
    ///
    /// - Parameters:
    ///   - unchecked: those of the round that have not been checked.
    ///   - share: the part of the round's time that has passed; it may exceed 1.
    static func count(of unchecked: Int, ofAll connections: Int, at share: Double) -> Int {
        let left = Int(max(0, 1 - share) * Double(connections))
        return min(unchecked, max(stepSize, unchecked - left))
    }

    private func check(_ user: any ScheduledConnection, _ id: ObjectIdentifier, _ now: Int64) {
        let isIdle = user.check(now: now)
        checked.add(user)
        guard isIdle else { return wake(user) }
        if active.removeValue(forKey: id) != nil {
            user.isIdle = true
            idle[id] = user
        }
    }

    // MARK: Memory

    private struct Usage {
        var connections = 0
        var total = 0
        /// The connection that uses the most.
        var largest: (user: any ScheduledConnection, bytes: Int)?

        var share: ConnectionMemory.Share {
            ConnectionMemory.Share(total: total, largest: largest?.bytes ?? 0)
        }

        mutating func add(_ user: any ScheduledConnection) {
            connections += 1
            let bytes = user.bufferedBytes
            guard bytes > 0 else { return }
            total += bytes
            if bytes > largest?.bytes ?? 0 { largest = (user, bytes) }
        }
    }

    /// Ends connections while all together use too much, the largest first.
    private func evict(_ now: Int64) {
        guard memory.report(checked.share, of: self) else { return }
        // What a step saw may have been sent meanwhile.
        var users = active.values.map { user in
            _ = user.check(now: now)
            return (user: user, bytes: user.bufferedBytes)
        }
        users.sort { $0.bytes < $1.bytes }
        var total = users.reduce(0) { $0 + $1.bytes }
        while true {
            let share = ConnectionMemory.Share(total: total, largest: users.last?.bytes ?? 0)
            guard memory.report(share, of: self), let (user, bytes) = users.popLast(), bytes > 0
            else { return }
            user.evict()
            let left = user.bufferedBytes
            total -= bytes - left
            // It may have dropped only what can be made again.
            if left > 0, left < bytes {
                users.insert((user, left), at: users.firstIndex { $0.bytes > left } ?? users.count)
            }
        }
    }
}
