import SyntheticData
import Workloads

/// What answers queries by a call in this process.
protocol EmbeddedPeer: AnyObject {
    var name: String { get }
    var title: String { get }
    var version: String { get }

    /// Takes the objects in.
    func load(_ dataset: Dataset) throws -> LoadFacts

    /// A closure that answers one of the queries, by its number, and tells how many objects the
    /// answer has; nil when the workload is not for this peer.
    func answer(_ workload: Workload, _ queries: [WorkloadQuery]) throws -> ((Int) throws -> Int)?
}
