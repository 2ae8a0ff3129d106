import BackendContract
import EmbeddedBackend
import Foundation
import Logging
import Objects

/// The file in which a node keeps its copy of the tables. Nothing is lost with it.
///
/// The file is not synced, so after a loss of power it may be damaged in ways that nobody notices.
/// It is therefore used only while the machine runs that wrote it.
struct NodeCache {
    /// The part of the tables that a node copies.
    struct Share {
        /// Identifies the node, also after a restart.
        let id: UUIDBytes
        /// Whether a bucket is part of a new copy.
        let isWanted: (BucketName) -> Bool
    }

    let path: String
    /// Nil if the node copies everything.
    private let share: Share?
    private let logger: Logger
    private let progress: @Sendable (Int) -> Void
    private let discarded: @Sendable () -> Void

    /// - Parameters:
    ///   - progress: called from time to time with the number of objects copied.
    ///   - discarded: called when the file that is there is thrown away, because it cannot be used.
    init(
        _ path: String, _ share: Share?, logger: Logger,
        progress: @escaping @Sendable (Int) -> Void, discarded: @escaping @Sendable () -> Void
    ) {
        self.path = path
        self.share = share
        self.logger = logger
        self.progress = progress
        self.discarded = discarded
    }

    /// Makes the file a copy of the tables at some state: the copy that is there, if it continues
    /// what PostgreSQL has, or a new one. If PostgreSQL has lost what the copy has, its epoch ends
    /// before anything is copied.
    ///
    /// - Returns: the state of the copy, and its buckets.
    func prepare(_ tables: ClusterTables) throws -> (state: SharedState, buckets: [BucketName]) {
        if FileManager.default.fileExists(atPath: path) {
            do {
                let (found, reason) = try present(tables)
                if let found { return found }
                logger.notice("the cache is made anew", metadata: ["reason": "\(reason)"])
            } catch let failure as StoreFailure {
                guard failure.isDamage else { throw failure }
                logger.warning("the cache is made anew", metadata: ["reason": "\(failure)"])
            }
            discard()
        }
        return try copy(tables)
    }

    /// Prepares the file and opens it. If it turns out to be damaged only then, it is made anew.
    ///
    /// - Parameter body: opens the file, given the state of the copy and its buckets.
    func open<Opened>(
        _ tables: ClusterTables, _ body: (SharedState, [BucketName]) throws -> Opened
    ) throws -> Opened {
        let (state, buckets) = try prepare(tables)
        do {
            return try body(state, buckets)
        } catch let failure as StoreFailure where failure.isDamage {
            logger.warning("the cache is made anew", metadata: ["reason": "\(failure)"])
            discard()
            let (state, buckets) = try copy(tables)
            return try body(state, buckets)
        }
    }

    /// The state of the copy that is there, or why it cannot be used.
    private func present(
        _ tables: ClusterTables
    ) throws -> ((SharedState, [BucketName])?, reason: String) {
        let store = try SQLiteStore(path: path, durability: .none)
        defer { try? store.close() }
        guard let mark = try store.setting(SharedState.setting), StateMark(mark) != nil else {
            return (nil, "it is not complete")
        }
        // First of all: a copy that is of no more use may be the only one to tell of a loss. If it is
        // damaged and tells of one that was none, resume tokens get snapshots.
        let change = try store.scan { try $0.lastChange() }
        let state = SharedState(change: change, mark: mark)
        let (head, past) = try tables.head(after: change, state.stateMark?.batch)
        if let divergence = Divergence(of: state, from: head, past) {
            if case .loss = divergence {
                logger.error("another history begins", metadata: ["reason": "\(divergence)"])
                try tables.endEpoch(head.epoch)
            }
            return (nil, divergence.description)
        }
        guard try store.setting(Self.machine) == Self.presentMachine else {
            return (nil, "the machine has been restarted since, and the cache is not synced")
        }
        if share == nil, try store.setting(Self.identity) != nil {
            return (nil, "it has only some of the buckets")
        }
        try complete(store)
        try addPlaces(store, tables)
        let buckets = try store.scan { $0.buckets }
        let isFar = try Self.isFar(
            from: head.change, at: change, tables, share.map { _ in buckets },
            // A new copy is loaded faster than so many changes are applied.
            copied: { try store.scan { try $0.objectCount() } / 2 })
        return isFar ? (nil, Divergence.distance.description) : ((state, buckets), "")
    }

    /// Adds the places that a copy lacks because an earlier program made it.
    private func addPlaces(_ store: SQLiteStore, _ tables: ClusterTables) throws {
        let unplaced = try store.scan { scan in
            Set(zip(scan.buckets, scan.places).filter { $0.1 == nil }.map(\.0))
        }
        guard !unplaced.isEmpty else { return }
        let present = try tables.buckets().filter { $0.place != nil && unplaced.contains($0.name) }
        try store.write { transaction in
            for bucket in present {
                guard let number = try transaction.bucket(bucket.name) else { continue }
                try transaction.setPlace(of: number, named: bucket.name, to: bucket.place)
            }
        }
    }

    /// Whether a copy lacks so much that a new one takes less: that goes to the file piece by
    /// piece, while what is lacking is held in memory until it can become one state.
    ///
    /// - Parameters:
    ///   - head: the last change.
    ///   - change: the last change that the copy has.
    ///   - buckets: those of the copy; nil for all.
    ///   - copied: the number of objects and deletions above which a new copy takes less.
    static func isFar(
        from head: ChangeNumber, at change: ChangeNumber, _ tables: ClusterTables,
        _ buckets: [BucketName]?, copied: () throws -> Int
    ) throws -> Bool {
        guard head > change + leastForCopying else { return false }
        // Many changes may be of the same objects, so only the objects tell.
        let count = max(try copied(), Int(leastForCopying))
        return try tables.isTail(after: change, longerThan: count, in: buckets)
    }

    /// The objects and deletions up to which a copy is brought up to date in any case.
    private static let leastForCopying: ChangeNumber = 100_000

    /// Removes what was on its way in or out when the node ended.
    private func complete(_ store: SQLiteStore) throws {
        guard let share else { return }
        let names = try store.setting(Self.incomplete).map(Self.names) ?? []
        try store.write { transaction in
            for name in names { try transaction.erase(name) }
            try transaction.set(Self.incomplete, to: Self.list([]))
            try transaction.set(Self.identity, to: share.id.bytes)
        }
    }

    /// The setting with the buckets that the file has only in part.
    static let incomplete = "incomplete buckets"
    /// The setting that identifies a node that has only some of the buckets.
    private static let identity = "node"

    /// The value of a setting that lists buckets.
    static func list(_ names: [BucketName]) -> [UInt8] {
        Array(names.map { $0.text + "\n" }.joined().utf8) + [UInt8(ascii: "\n")]
    }

    private static func names(_ value: [UInt8]) -> [BucketName] {
        value.split(separator: UInt8(ascii: "\n")).map {
            BucketName(trusted: String(decoding: $0, as: UTF8.self))
        }
    }

    /// What identifies the node that the file at a path belongs to; nil if there is none.
    static func identity(at path: String) -> UUIDBytes? {
        guard FileManager.default.fileExists(atPath: path),
            let store = try? SQLiteStore(path: path, durability: .none)
        else { return nil }
        defer { try? store.close() }
        return (try? store.setting(identity)).flatMap { $0 }.flatMap { UUIDBytes($0) }
    }

    private static let machine = "machine"

    /// Identifies the machine's present run.
    private static var presentMachine: [UInt8]? {
        FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id").map { Array($0) }
    }

    private func discard() {
        discarded()
        remove()
    }

    private func remove() {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Copies the tables at one state.
    private func copy(
        _ tables: ClusterTables
    ) throws -> (state: SharedState, buckets: [BucketName]) {
        let store = try SQLiteStore(path: path, durability: .none)
        do {
            let state = try fill(store, from: tables)
            let buckets = try store.scan { $0.buckets }
            try store.close()
            return (state, buckets)
        } catch {
            try? store.close()
            remove()
            throw error
        }
    }

    private func fill(_ store: SQLiteStore, from tables: ClusterTables) throws -> SharedState {
        try store.set("page key secret", to: try tables.secret())
        if let machine = Self.presentMachine { try store.set(Self.machine, to: machine) }
        if let share { try store.set(Self.identity, to: share.id.bytes) }
        var count = 0
        let names = try share.map { try tables.buckets().map(\.name).filter($0.isWanted) }
        let tail = try tables.copy(only: names) { part in
            try store.write { try $0.add(part) }
            count += part.objects
            progress(count)
            _ = try store.checkpoint()
        }
        try tables.release()
        try store.write { transaction in
            transaction.advance(to: tail.head.change)
            try transaction.noteForgottenDeletions(upTo: tail.head.change)
            try transaction.set(SharedState.setting, to: tail.shared.state.mark)
        }
        return tail.shared.state
    }
}

extension StoreFailure {
    /// Whether a file is damaged, or something else than this version's store.
    fileprivate var isDamage: Bool {
        switch self {
        case .notADatabase, .damaged, .damagedObject, .newer, .older: true
        default: false
        }
    }
}
