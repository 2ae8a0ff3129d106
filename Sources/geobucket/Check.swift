import ArgumentParser
import EmbeddedBackend

/// `geobucket check`: says where a store and what is derived from it disagree.
struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a store: every disagreement between its documents and its index.",
        discussion: """
            Reads the whole file at one state and changes nothing; a service may be running on it. \
            Prints a sentence for each disagreement and exits with 1 when there is one.
            """)

    @Option(help: ArgumentHelp("The store's file.", valueName: "path"))
    var store = "./geobucket.sqlite"

    func run() throws {
        let report: StoreCheck.Report
        do {
            report = try StoreCheck.run(path: store)
        } catch {
            throw CommandFailure("the store cannot be checked: \(error)")
        }
        for problem in report.problems { try Console.write(problem + "\n") }
        let found =
            "\(report.objects) objects with \(report.points) points in \(report.buckets) buckets"
        guard report.problems.isEmpty else {
            let count = report.problems.count
            throw CommandFailure("\(found): \(count) problem\(count == 1 ? "" : "s")")
        }
        try Console.write("\(found): no problems\n")
    }
}
