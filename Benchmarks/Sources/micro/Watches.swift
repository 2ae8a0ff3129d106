import BackendContract
import CMallocCounter
import Dispatch
import Foundation
import Geodesy
import JSONText
import LiveQueries
import Logging
import Objects
import QueryLanguage
import Synchronization
import SyntheticData

/// What watches cost: a move of one of 1,000,000 objects beside 10,000 circles of 2 km around others,
/// and within one circle and 1,000 equal ones, by the processor time of the matching thread; and the
/// memory of a watch.
func measureWatches(on backend: any Backend, in bucket: BucketName) throws {
    guard CommandLine.arguments.dropFirst().allSatisfy({ "watches".contains($0) }) else { return }
    try measureMoves("watches: a move beside 10,000 circles of 2 km", on: backend, in: bucket) {
        try (0..<10_000).map { (try circle(around: $0 * 97, 2_000, in: bucket), 0) }
    }
    for count in [1, 1_000] {
        try measureMoves(
            "watches: a move within \(count) equal circles of 2 km, on connections of their own",
            on: backend, in: bucket, around: 4, batches: 20
        ) {
            try (0..<count).map { (try circle(around: 4, 2_000, in: bucket), $0) }
        }
    }
    try measureMemory(on: backend, in: bucket)
}

private var limits: Limits {
    var limits = Limits()
    limits.watchesPerConnection = 200_000
    limits.watches = 200_000
    return limits
}

private func newHub(_ backend: any Backend) -> WatchHub {
    WatchHub(
        backend: backend, limits: limits,
        logger: Logger(label: "micro") { _ in SwiftLogNoOpLogHandler() })
}

private func circle(around object: Int, _ meters: Int, in bucket: BucketName) throws -> WatchRequest
{
    let place = dataset.positions[object % dataset.count].coordinate
    let text = """
        {"bucketQuery":{"clause":{"type":"geodistance","field":"location","radius":\(meters),
        "center":{"_type":"point","lat":\(place.latitude),"lon":\(place.longitude)}}},
        "fields":["_version"]}
        """
    return try JSONParser.reading(Array(text.utf8)) { view in
        var members = try MemberReader(view)
        return try WatchRequest(bucket: bucket, from: &members, limits: limits)
    }
}

/// - Parameters:
///   - object: objects move around this one; nil for around where they are.
///   - requests: the watches, each with the number of its connection.
private func measureMoves(
    _ name: String, on backend: any Backend, in bucket: BucketName, around object: Int? = nil,
    batches: Int = 200, _ requests: () throws -> [(WatchRequest, connection: Int)]
) throws {
    let hub = newHub(backend)
    defer { hub.stop() }
    var sessions: [Int: WatchSession] = [:]
    var last = ""
    for (request, connection) in try requests() {
        let session = sessions[connection] ?? hub.session(of: "benchmark") {}
        sessions[connection] = session
        last = try session.start(request, until: nil).name
        session.open(last)
    }
    var random = SplitMix64(seed: 5)
    var writer = JSONWriter()
    func drain() {
        for session in sessions.values {
            writer.removeAll()
            while session.next(into: &writer) { writer.removeAll() }
        }
    }
    let moves = 100
    drain()
    let (before, sent) = (matchingMicroseconds(), hub.statistics().events)
    for _ in 0..<batches {
        var chosen: Set<Int> = []
        while chosen.count < moves {
            chosen.insert(random.below(object == nil ? dataset.count : 1_000))
        }
        let objects = try chosen.map { try moved($0, around: object ?? $0, &random) }
        let done = DispatchSemaphore(value: 0)
        backend.submit(.putMany(bucket: bucket, objects: objects)) { result in
            if case .failure(let failure) = result { fatalError("\(failure)") }
            done.signal()
        }
        done.wait()
        let synced = DispatchSemaphore(value: 0)
        sessions.values.first!.sync(last) { _ in synced.signal() }
        // It is answered behind the notifications that stand before it.
        repeat { drain() } while synced.wait(timeout: .now() + .milliseconds(1)) == .timedOut
    }
    let microseconds = Double(matchingMicroseconds() - before) / Double(batches * moves)
    let events = hub.statistics().events - sent
    print(
        "| \(name), \(events) events of \(batches * moves) moves "
            + "| \(Int(microseconds * 1_000)) | | |")
}

/// An object that has moved to within some hundred metres of where another one began.
private func moved(
    _ object: Int, around center: Int, _ random: inout SplitMix64
) throws -> PutObject {
    let place = dataset.positions[center].coordinate
    let text = """
        {"name":"n\(object)","location":{"_type":"point",
        "lat":\(min(90, max(-90, place.latitude + random.number(-0.005...0.005)))),
        "lon":\(min(180, max(-180, place.longitude + random.number(-0.005...0.005))))}}
        """
    let document = try JSONParser.reading(Array(text.utf8)) {
        try WrittenDocument($0, at: "object", limits: Limits())
    }
    return PutObject(id: ObjectID(trusted: Dataset.id(object)), document: document)
}

private func measureMemory(on backend: any Backend, in bucket: BucketName) throws {
    // The first time fills the cache of documents, from which snapshots are written.
    var bytes = 0
    for _ in 1...2 { bytes = try memoryOfWatches(on: backend, in: bucket) }
    print("| watches: bytes of one of 100,000 circles of 200 m | \(bytes) | | |")
}

private func memoryOfWatches(on backend: any Backend, in bucket: BucketName) throws -> Int {
    let hub = newHub(backend)
    defer { hub.stop() }
    let session = hub.session(of: "benchmark") {}
    let count = 100_000
    var writer = JSONWriter()
    try startCircle(0)
    let before = gb_allocated_bytes()
    for number in 1...count { try startCircle(number) }
    return (Int(gb_allocated_bytes()) - Int(before)) / count

    func startCircle(_ number: Int) throws {
        let start = try session.start(circle(around: number * 9, 200, in: bucket), until: nil)
        session.open(start.name)
        while session.next(into: &writer) { writer.removeAll() }
    }
}

/// The processor time of the thread that matches, in microseconds: of the youngest of its name, since
/// those of former hubs may not have ended yet.
private func matchingMicroseconds() -> Int {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    for task in tasks.compactMap({ Int($0) }).sorted(by: >) {
        let path = "/proc/self/task/\(task)/"
        guard let name = try? String(contentsOfFile: path + "comm", encoding: .utf8),
            name == "watches\n",
            let times = try? String(contentsOfFile: path + "schedstat", encoding: .utf8),
            let nanoseconds = times.split(separator: " ").first.flatMap({ Int($0) })
        else { continue }
        return nanoseconds / 1_000
    }
    return 0
}
