import DequeModule
import Histogram
import JSONText
import NIOCore
import NIOPosix

/// The load generator: one event loop with all connections. It sends each due request on the
/// connection that has been free longest.
///
/// A request that is due while no connection is free waits, and its latency includes the wait. So a
/// service that stalls still gets the requests that its users would have sent meanwhile.
///
/// Everything happens on the event loop.
final class Generator: LoadConnection.Owner {
    private let target: Target
    private let loop: any EventLoop
    private var maker: RequestMaker
    private let parser = JSONParser()
    private var connections: [ObjectIdentifier: LoadConnection] = [:]
    /// Connections that became free, the longest free first; some may have ended since.
    private var free: Deque<LoadConnection> = []
    private var isClosing = false

    private var schedule: ArrivalSchedule?
    private var isWarmUp = false
    private var record = StageRecord()
    private var underWay = 0
    private var wakeUp: UInt64?
    private var isOver: EventLoopPromise<StageRecord>?
    private var patience = TimeAmount.zero
    private var cut: Scheduled<Void>?

    private(set) var timeline: Timeline
    private(set) var reconnects = 0
    private var delays = EventDelays()
    private var hasWatches = false

    /// The pause before the first attempt to reconnect, in milliseconds. Each further pause is up
    /// to twice as long, with at most `mostDoublings` doublings.
    private static let reconnectPause = 100
    private static let mostDoublings = 5

    init(
        _ target: Target, _ maker: consuming RequestMaker, _ timeline: Timeline,
        _ loop: any EventLoop
    ) {
        self.target = target
        self.maker = maker
        self.timeline = timeline
        self.loop = loop
    }

    // MARK: Connections

    /// Opens one more connection; the future succeeds once it is logged in and its watches have been
    /// started.
    func connect(watches: Int = 0) -> EventLoopFuture<Void> {
        let ready = loop.makePromise(of: Void.self)
        hasWatches = hasWatches || watches > 0
        let starts = (0..<watches).map { _ in maker.start() }
        let connection = NIOLoopBound(
            LoadConnection(
                owner: self, parser: parser, greeting: target.greeting, starts: starts,
                ready: ready),
            eventLoop: loop)
        let target = target
        ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connectTimeout(.seconds(10))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandlers(try target.transport())
                    if let web = target.web {
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(QueryOverHTTP(target, web))
                    }
                    try pipeline.addHandler(connection.value)
                }
            }
            .connect(host: target.host, port: target.port)
            .whenFailure { ready.fail($0) }
        return ready.futureResult.assumeIsolated().map {
            self.connections[ObjectIdentifier(connection.value)] = connection.value
            self.becameFree(connection.value)
        }.nonisolated()
    }

    func close() {
        isClosing = true
        for connection in connections.values { connection.close() }
    }

    private func reconnect(watches: Int, attempt: Int = 0) {
        let longest = Self.reconnectPause << min(attempt, Self.mostDoublings)
        let pause = TimeAmount.milliseconds(Int64.random(in: Int64(longest / 2)...Int64(longest)))
        loop.assumeIsolated().scheduleTask(in: pause) {
            guard !self.isClosing else { return }
            self.connect(watches: watches).assumeIsolated().whenComplete { result in
                switch result {
                case .success: self.reconnects += 1
                case .failure: self.reconnect(watches: watches, attempt: attempt + 1)
                }
            }
        }
    }

    private func becameFree(_ connection: LoadConnection) {
        connection.freeSince = Clocks.monotonic
        free.append(connection)
        pump()
    }

    // MARK: A stage

    /// Sends requests at a rate for a time. The future succeeds when the last request has ended, at
    /// the latest `patience` seconds after it was due.
    func run(
        rate: Double, seconds: Double, patience: Double, isWarmUp: Bool
    ) -> EventLoopFuture<StageRecord> {
        let promise = loop.makePromise(of: StageRecord.self)
        let begin = Clocks.monotonic + 1_000_000
        schedule = ArrivalSchedule(begin: begin, rate: rate, seconds: seconds)
        self.isWarmUp = isWarmUp
        record = StageRecord()
        _ = delays.takeDelays()
        record.begin = begin
        record.threadCPU = Clocks.threadCPU
        isOver = promise
        self.patience = .nanoseconds(Int64(patience * 1e9))
        giveUp(patienceAfter: begin + UInt64(seconds * 1e9))
        pump()
        return promise.futureResult
    }

    private func giveUp(patienceAfter time: UInt64) {
        let deadline = NIODeadline.uptimeNanoseconds(time) + patience
        cut?.cancel()
        cut = loop.assumeIsolated().scheduleTask(deadline: deadline) { self.giveUp() }
    }

    /// Ends the current stage early: requests that are not due yet are not sent.
    func stop() {
        guard schedule != nil else { return }
        let now = Clocks.monotonic
        schedule!.end(at: now)
        giveUp(patienceAfter: now)
        pump()
    }

    /// The progress of the current stage; nil between stages.
    var progress: LoadProgress? {
        let now = Clocks.monotonic
        guard let schedule, let last = timeline.complete(at: now), now > schedule.begin else {
            return nil
        }
        return LoadProgress(
            rate: schedule.rate, isWarmUp: isWarmUp, seconds: Double(now - schedule.begin) / 1e9,
            last: LoadReport.Interval(last), backlog: schedule.waiting(at: now))
    }

    /// Sends due requests, as far as connections are free.
    private func pump() {
        guard schedule != nil else { return }
        while hasFree, let due = schedule!.take(at: Clocks.monotonic) {
            send(on: free.removeFirst(), due: due)
        }
        if let next = schedule!.next {
            if hasFree { wake(at: next) }
        } else if underWay == 0 {
            finish()
        }
    }

    private var hasFree: Bool {
        while let first = free.first, !first.isOpen { free.removeFirst() }
        return !free.isEmpty
    }

    /// Pumps again at a time, or earlier.
    private func wake(at time: UInt64) {
        if let wakeUp, wakeUp <= time { return }
        wakeUp = time
        loop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(time)) {
            // Another may have been scheduled since, for an earlier time.
            guard self.wakeUp == time else { return }
            self.wakeUp = nil
            self.pump()
        }
    }

    private func send(on connection: LoadConnection, due: UInt64) {
        let kind = maker.pickKind()
        if kind == .follow {
            let number = maker.pick(connection.watches.count)
            let watch = connection.watches[number]
            connection.moveWatch(number, to: maker.writeFollow(watch.name, from: watch.center))
        } else {
            maker.write(kind)
        }
        let now = Clocks.monotonic
        // The delay before `freeSince` came from the lack of a free connection, the rest from the
        // generator itself.
        record.lags.record(now - max(due, min(now, connection.freeSince)))
        if connection.freeSince > due { record.waits += 1 }
        underWay += 1
        connection.send(.init(kind: kind, due: due), maker.line)
    }

    private func note(_ request: LoadConnection.Request, error: String?) {
        note(request.kind, due: request.due, error: error)
        underWay -= 1
    }

    private func note(_ kind: RequestKind, due: UInt64, error: String?) {
        let now = Clocks.monotonic
        record.tallies[kind, default: Tally()].record(now - due, error: error)
        timeline.record(due: due, end: now, failed: error != nil)
    }

    func answered(_ connection: LoadConnection, error: String?) {
        guard let request = connection.request else { return connection.close() }
        connection.request = nil
        note(request, error: error)
        becameFree(connection)
    }

    func wrote(_ version: EventDelays.Version) { delays.answered(version, at: Clocks.monotonic) }

    func told(_ notice: Notice, on connection: LoadConnection) {
        switch notice {
        case .events(let count, let versions):
            record.watching.events += count
            let now = Clocks.monotonic
            for version in versions { delays.arrived(version, at: now) }
        case .snapshot: break
        case .resync: record.watching.resyncs += 1
        case .end:
            // The connection that is opened instead starts its watches again.
            record.watching.ends += 1
            connection.close()
        }
    }

    func ended(_ connection: LoadConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil, !isClosing
        else { return }
        reconnect(watches: connection.watches.count)
        guard let request = connection.request else { return }
        connection.request = nil
        note(request, error: OwnError.connectionLost)
        pump()
    }

    /// Counts requests that have not ended as failed.
    private func giveUp() {
        while let due = schedule?.take(at: .max) {
            note(maker.pickKind(), due: due, error: OwnError.notSent)
        }
        for connection in connections.values {
            guard let request = connection.request else { continue }
            connection.request = nil
            note(request, error: OwnError.noAnswer)
            connection.close()
        }
        finish()
    }

    private func finish() {
        record.end = Clocks.monotonic
        record.watching.delays = delays.takeDelays()
        record.hasWatches = hasWatches
        record.threadCPU = Clocks.threadCPU - record.threadCPU
        schedule = nil
        cut?.cancel()
        isOver?.succeed(record)
        isOver = nil
    }
}

/// What the generator measured in one stage.
struct StageRecord: Sendable {
    var begin: UInt64 = 0
    var end: UInt64 = 0
    var tallies: [RequestKind: Tally] = [:]
    /// Nanoseconds by which requests were sent late although a connection was free.
    var lags = Histogram<UInt32>(numberOfSignificantValueDigits: .three)
    /// How many requests waited for a free connection.
    var waits = 0
    /// What watches were told.
    var watching = WatchTally()
    /// Whether there were any.
    var hasWatches = false
    /// Processor time of the event loop's thread in nanoseconds.
    var threadCPU: UInt64 = 0

    var total: Tally { tallies.values.reduce(into: Tally()) { $0.add($1) } }
}
