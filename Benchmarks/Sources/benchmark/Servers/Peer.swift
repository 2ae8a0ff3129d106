import SyntheticData
import Workloads

/// An object of an answer, with its distance in metres where the answer has one.
struct Hit {
    var object: Int
    var distance: Double?

    /// One that an answer only counts.
    static let counted = Hit(object: -1)

    /// Those that an answer only counts by category: each has its category's number.
    static func counted(_ count: Int, inCategory name: String?) -> [Hit] {
        let category = name.flatMap { Dataset.categoryNames.firstIndex(of: $0) } ?? -1
        return Array(repeating: Hit(object: category), count: count)
    }
}

/// One way to put the workloads to a server.
protocol Peer {
    /// How it is called in reports and in `--peers`.
    var name: String { get }
    var title: String { get }
    var server: any Server { get }

    /// A query as the peer is asked it; nil when this workload is not for it.
    func request(_ query: WorkloadQuery, for workload: Workload) -> [UInt8]?

    /// A change of an object's place; nil when the peer takes none.
    func move(_ object: Int, to position: MicroPoint) -> [UInt8]?

    /// What an answer says; a count is so many hits without a number.
    func hits(in answer: [UInt8], for workload: Workload) throws -> [Hit]
}

extension Peer {
    func move(_ object: Int, to position: MicroPoint) -> [UInt8]? { nil }
}
