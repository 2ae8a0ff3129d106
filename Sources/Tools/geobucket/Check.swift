import ArgumentParser
import BackendContract
import EmbeddedBackend
import JSONText

/// `geobucket check`: reports where a store and the data derived from it disagree.
struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check a store: report every disagreement between its documents and its index.",
        discussion: """
            Prints a sentence for each disagreement, and exits with 1 if there is one. With --store it \
            reads the whole file at one state and changes nothing; a service may be running on it. \
            With --server a running service compares its store with what it has in memory.
            """)

    @Option(
        help: ArgumentHelp("The store's file. (default: ./geobucket.sqlite)", valueName: "path"))
    var store: String?

    @OptionGroup var server: ServerOption

    func validate() throws { try server.refuse(with: store) }

    func run() async throws {
        let report = server.server == nil ? try offline() : try await online()
        for problem in report.problems { try Console.write(problem + "\n") }
        guard report.problems.isEmpty else {
            let count = report.problems.count
            throw CommandFailure("\(report.summary): \(count) problem\(count == 1 ? "" : "s")")
        }
        try Console.write("\(report.summary): no problems\n")
    }

    private func offline() throws -> CheckReport {
        try AddressSpace.check()
        do {
            return try StoreCheck.run(path: store ?? Serve.defaultStore)
        } catch {
            throw CommandFailure("the store cannot be checked: \(error)")
        }
    }

    private func online() async throws -> CheckReport {
        let answer = try await server.connect { try await $0.call("store.check", Array("{}".utf8)) }
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
