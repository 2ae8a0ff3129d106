import Backend
import EmbeddedBackend
import Foundation
import Logging
import ObjectStore
import Objects
import PostgresStore

/// The file in which a node keeps its copy of the tables. Nothing is lost with it.
///
/// The file is not synced, so after a loss of power it may be damaged in ways that nobody notices.
/// It is therefore used only while the machine runs that wrote it.
struct NodeCache {
    let path: String
    private let logger: Logger
    private let progress: @Sendable (Int) -> Void

    /// - Parameter progress: called from time to time with the number of objects copied.
    init(_ path: String, logger: Logger, progress: @escaping @Sendable (Int) -> Void) {
        self.path = path
        self.logger = logger
        self.progress = progress
    }

    /// Makes the file a copy of the tables at some state: the copy that is there, if it continues
    /// what PostgreSQL has, or a new one.
    ///
    /// - Returns: the state of the copy.
    func prepare(_ tables: ClusterTables) throws -> SharedState {
        if FileManager.default.fileExists(atPath: path) {
            do {
                let (state, reason) = try present(tables)
                if let state { return state }
                logger.notice("the cache is made anew", metadata: ["reason": "\(reason)"])
            } catch let failure as StoreFailure {
                guard failure.isDamage else { throw failure }
                logger.warning("the cache is made anew", metadata: ["reason": "\(failure)"])
            }
            remove()
        }
        return try copy(tables)
    }

    /// The state of the copy that is there, or why it cannot be used.
    private func present(
        _ tables: ClusterTables
    ) throws -> (SharedState?, reason: String) {
        let store = try ObjectStore(path: path, durability: .none)
        defer { try? store.close() }
        guard let mark = try store.setting(SharedState.setting), StateMark(mark) != nil else {
            return (nil, "it is not complete")
        }
        guard try store.setting(Self.machine) == Self.presentMachine else {
            return (nil, "the machine has been restarted since, and the cache is not synced")
        }
        let change = try store.scan { try $0.lastChange() }
        let state = SharedState(change: change, mark: mark)
        let (head, past) = try tables.head(after: change, state.stateMark?.batch)
        let divergence = Divergence(of: state, from: head, past)
        return (divergence == nil ? state : nil, divergence?.description ?? "")
    }

    private static let machine = "machine"

    /// Identifies the machine's present run.
    private static var presentMachine: [UInt8]? {
        FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id").map { Array($0) }
    }

    private func remove() {
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// Copies the tables at one state.
    private func copy(_ tables: ClusterTables) throws -> SharedState {
        let store = try ObjectStore(path: path, durability: .none)
        do {
            let state = try fill(store, from: tables)
            try store.close()
            return state
        } catch {
            try? store.close()
            remove()
            throw error
        }
    }

    private func fill(_ store: ObjectStore, from tables: ClusterTables) throws -> SharedState {
        try store.set("page key secret", to: try tables.secret())
        if let machine = Self.presentMachine { try store.set(Self.machine, to: machine) }
        var count = 0
        let tail = try tables.copy { part in
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
