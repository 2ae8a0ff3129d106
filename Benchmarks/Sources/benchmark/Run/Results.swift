import Workloads

/// Everything that was measured with one dataset; written as it is to the raw results.
struct Results: Codable {
    var dataset: String
    var objects: Int
    /// Names and titles of the peers, in the order of the report.
    var titles: [[String]] = []
    var versions: [String] = []
    var facts: [String: LoadFacts] = [:]
    var agreements: [Agreement] = []
    var samples: [Sample] = []
    /// By peer and workload: why it was not measured to the end.
    var failures: [String: String] = [:]
    /// What GeoBucket tells of itself after all rounds, in bytes by object.
    var residentBytes = 0
    var cachedBytes = 0

    init(dataset: String, objects: Int) {
        self.dataset = dataset
        self.objects = objects
    }

    /// The values of one measure over the rounds, ascending.
    func values(_ kind: Sample.Case, _ measure: (Sample) -> Double) -> [Double] {
        samples.filter { $0.of == kind && $0.answers > 0 && $0.failures == 0 }.map(measure).sorted()
    }

    /// The median over the rounds; nil when nothing was measured.
    func median(_ kind: Sample.Case, _ measure: (Sample) -> Double) -> Double? {
        let values = values(kind, measure)
        guard !values.isEmpty else { return nil }
        let middle = values.count / 2
        return values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
    }

    /// The largest less the smallest value over the rounds, as a part of the median; nil for one.
    func spread(_ kind: Sample.Case, _ measure: (Sample) -> Double) -> Double? {
        let values = values(kind, measure)
        guard values.count > 1, let median = median(kind, measure), median > 0 else { return nil }
        return (values.last! - values.first!) / median
    }

    /// Which numbers of connections were measured, ascending.
    var connectionCounts: [Int] {
        Set(samples.filter { $0.of.mode == .closed }.map(\.of.connections)).sorted()
    }

    var workloads: [Workload] { Set(samples.map(\.of.workload)).sorted() }
}
