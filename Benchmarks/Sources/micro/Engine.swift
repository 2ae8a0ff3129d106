import BackendContract
import Dispatch
import EmbeddedBackend
import Foundation
import Geodesy
import JSONText
import Logging
import Objects
import QueryLanguage
import SyntheticData
import Workloads

/// Pages of the workloads, and columns: what two conditions on 2,000 candidates add to a circle,
/// what a condition costs that only columns answer.
func measureEngine() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "geobucket-\(getpid())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let backend = try SQLiteBackend(
        path: folder.path + "/engine.sqlite", limits: Limits(),
        logger: Logger(label: "micro") { _ in SwiftLogNoOpLogHandler() })
    defer { try? backend.close() }
    try load(backend)

    let circles = queries(.q7)
    let counts = try circles.map { try clause($0, .q7) }
    let bare = try circles.map { try clause($0, .q1) }
    let category = try circles.map { try clause($0, .q6) }
    var writer = JSONWriter(reserving: 1 << 20)
    func found(_ request: ReadRequest) throws -> Int {
        writer.removeAll()
        let read = try backend.prepare(request)
        return try read.run(maximumBytes: .max, until: nil, into: &writer).count
    }
    // The first queries have the columns made.
    for clause in counts { _ = try found(.count(clause, in: bucket)) }
    Thread.sleep(forTimeInterval: 2)
    var sum = 0
    try measure("engine: count in a circle of 2,000") { number in
        sum += try found(.count(bare[number % bare.count], in: bucket))
    }
    try measure("columns: the same with category = x and rating >= 50") { number in
        sum += try found(.count(counts[number % counts.count], in: bucket))
    }
    try measure("columns: count of category = x in 1,000,000") { number in
        sum += try found(.count(category[number % category.count], in: bucket))
    }
    for workload in [Workload.q1, .q2, .q3, .q4, .q5, .q9] {
        let asked = try queries(workload).map { try query($0, workload) }
        try measure("engine: page of \(workload.rawValue)") { number in
            sum += try found(.page(asked[number % asked.count], in: bucket))
        }
    }
    let groups = try queries(.q10).map { try query($0, .q10) }
    try measure("engine: aggregation of Q10") { number in
        sum += try found(.aggregation(groups[number % groups.count], in: bucket))
    }
    // The first count by cells makes the grids of the trees.
    for (name, window) in [
        ("the world at zoom 0", GridWindow(level: ClusterQuery.usualBits)),
        ("a tile of up to 1,024 cells", GridWindow(tile: densest(at: 4), zoom: 4, bits: 5)),
        ("a tile of up to 4,096 cells", GridWindow(tile: densest(at: 4), zoom: 4, bits: 6)),
    ] {
        try measure("clusters: \(name), no condition") { _ in
            sum += try found(.clusters(ClusterQuery(window: window, fields: []), in: bucket))
        }
        try measure("clusters: \(name), category = x") { number in
            let clause = category[number % category.count]
            sum += try found(
                .clusters(ClusterQuery(clause: clause, window: window, fields: []), in: bucket))
        }
    }
    precondition(sum >= 0)
    try measureWatches(on: backend, in: bucket)
}

private let bucket = BucketName(trusted: "places")

private func clause(_ workloadQuery: WorkloadQuery, _ workload: Workload) throws -> Clause {
    try query(workloadQuery, workload).clause
}

private func query(_ workloadQuery: WorkloadQuery, _ workload: Workload) throws -> Query {
    let text = "{" + QueryDocument.members(workloadQuery, for: workload) + "}"
    return try JSONParser.reading(Array(text.utf8)) { view in
        var members = try MemberReader(view)
        return try QueryParser(limits: Limits()).query(from: &members)
    }
}

private func load(_ backend: SQLiteBackend) throws {
    let written = DispatchGroup()
    for first in stride(from: 0, to: dataset.count, by: 1_000) {
        let objects = try (first..<min(first + 1_000, dataset.count)).map { object in
            var writer = JSONWriter()
            dataset.write(object, into: &writer)
            let document = try JSONParser.reading(writer.bytes) {
                try WrittenDocument($0, at: "object", limits: Limits())
            }
            return PutObject(id: ObjectID(trusted: Dataset.id(object)), document: document)
        }
        written.enter()
        backend.submit(.putMany(bucket: bucket, objects: objects)) { result in
            if case .failure(let failure) = result { fatalError("\(failure)") }
            written.leave()
        }
    }
    written.wait()
}

/// The tile of a zoom that has most objects.
private func densest(at zoom: Int) -> GridCell {
    var counts: [GridCell: Int] = [:]
    for place in dataset.positions {
        counts[WorldGrid(place.coordinate).cell(level: zoom), default: 0] += 1
    }
    return counts.max { $0.value < $1.value }!.key
}
