import ArgumentParser
import BackendContract
import EmbeddedBackend
import JSONText
import Objects

/// `geobucket check`: reports where a store and the data derived from it disagree.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a store: report every disagreement between its documents and its index.",
        discussion: """
            Prints a sentence for each disagreement, and exits with 1 if there is one. With --store it \
            reads the whole file at one state and changes nothing; a service may be running on it. \
            With --server a running service compares its store with what it has in memory.
            """)

    @OptionGroup var source: StoreOption

    func run() async throws {
        let report =
            if let server = source.server { try await online(server) } else { try offline() }
        for problem in report.problems { try Console.write(problem + "\n") }
        guard report.problems.isEmpty else {
            throw CommandFailure(
                "\(report.contents): \(counted(report.problems.count, "problem"))")
        }
        try Console.write("\(report.contents): no problems\n")
    }

    private func offline() throws -> CheckReport {
        try AddressSpace.check()
        do {
            return try StoreCheck.run(path: source.path)
        } catch {
            throw CommandFailure("the store cannot be checked: \(error)")
        }
    }

    private func online(_ server: ServerAddress) async throws -> CheckReport {
        let answer = try await source.connect(to: server) { connection in
            try await connection.call("store.check", Array("{}".utf8))
        }
        return try JSONParser.reading(answer) { view in
            var report = CheckReport()
            report.objects = view["objects"]?.number?.exactInt ?? 0
            report.points = view["points"]?.number?.exactInt ?? 0
            report.buckets = view["buckets"]?.number?.exactInt ?? 0
            report.problems = view["problems"]?.elements.compactMap(\.string) ?? []
            let unreported = (view["problemCount"]?.number?.exactInt ?? 0) - report.problems.count
            if unreported > 0 { report.problems.append("and \(unreported) more") }
            return report
        }
    }
}

extension CheckReport {
    /// What was checked: `6179 objects with 6179 points in 1 bucket`.
    var contents: String {
        "\(counted(objects, "object")) with \(counted(points, "point")) in "
            + counted(buckets, "bucket")
    }
}
