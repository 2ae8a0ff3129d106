import ArgumentParser
import Foundation
import SyntheticData
import Workloads

/// The measuring program; `Benchmarks/run.sh` is how it is meant to be started.
@main
struct Benchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "benchmark", abstract: "Measure GeoBucket beside its peers.",
        subcommands: [Measure.self, Grow.self, Write.self, Echo.self])
}

/// `benchmark measure`: the workloads, and the report.
struct Measure: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure the workloads and write report.md, report.svg and report.json.")

    @OptionGroup var settings: Settings

    func run() throws {
        let machine = Machine()
        let generated = Dataset.clustered(objects: settings.objects, seed: settings.seed)
        let main = try measure(generated, settings.workloads, isMain: true)
        var others: [Results] = []
        for dataset in try realDatasets() {
            var wanted = settings.workloads.filter { [.q1, .q4, .q5].contains($0) }
            if wanted.isEmpty { wanted = settings.workloads }
            do {
                others.append(try measure(dataset, wanted, isMain: false))
            } catch {
                progress("\(dataset.name): \(error)")
            }
        }
        let report = Report(machine: machine, main: main, others: others, settings: settings)
        try write(report.text, "report.md")
        try write(
            BarChart(results: main, machine: machine, connections: settings.mostConnections).svg,
            "report.svg")
        try writeJSON(Raw(machine: machine, results: [main] + others), "report.json")
        let failures = ([main] + others).flatMap(\.failures)
        if failures.contains(where: { $0.key.hasPrefix("geobucket") }) {
            throw Failure("GeoBucket failed at some of it: the report says at what")
        }
    }

    private func measure(
        _ dataset: Dataset, _ workloads: [Workload], isMain: Bool
    ) throws -> Results {
        var settings = settings
        if !isMain {
            settings.rounds = min(3, settings.rounds)
            settings.connections = "\(settings.mostConnections)"
        }
        let campaign = try Campaign(settings, dataset, workloads: workloads, isMain: isMain)
        defer { campaign.stop() }
        try campaign.run()
        return campaign.results
    }

    private func realDatasets() throws -> [Dataset] {
        guard let folder = settings.data else {
            progress("real places are left out: no --data")
            return []
        }
        let files = [
            ("cities", RealPlaces.cities(folder: folder)),
            ("postcodes", RealPlaces.postcodes(folder: folder)),
        ]
        return files.compactMap { name, positions in
            guard let positions else {
                progress("\(name) are left out: not in \(folder)")
                return nil
            }
            let kept = Array(positions.prefix(settings.quick ? 5_000 : positions.count))
            return Dataset(name: name, positions: kept, seed: settings.seed)
        }
    }

    private struct Raw: Encodable {
        var machine: Machine
        var results: [Results]
    }

    private func write(_ text: String, _ name: String) throws {
        try settings.write(Data(text.utf8), name)
    }

    private func writeJSON(_ value: some Encodable, _ name: String) throws {
        try settings.write(JSONEncoder.readable.encode(value), name)
    }
}

/// `benchmark grow`: how cost grows, and its chart.
struct Grow: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure how cost grows and write growth.md, growth.svg and growth.json.")

    @OptionGroup var settings: Settings

    func run() throws {
        let machine = Machine()
        let growth = try Growth(settings)
        try settings.write(Data(growth.text(machine).utf8), "growth.md")
        try settings.write(
            Data(GrowthChart(growth: growth, machine: machine).svg.utf8), "growth.svg")
        try settings.write(JSONEncoder.readable.encode(growth), "growth.json")
    }
}

/// `benchmark write`: how fast writes are, and what they cost reads.
struct Write: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure writes and write writes.md.")

    @OptionGroup var settings: Settings

    func run() throws {
        let machine = Machine()
        let run = try WriteRun(settings)
        try settings.write(Data(run.text(machine).utf8), "writes.md")
    }
}

extension Settings {
    /// Writes a file of the report.
    func write(_ data: Data, _ name: String) throws {
        try FileManager.default.createDirectory(
            atPath: output, withIntermediateDirectories: true)
        try data.write(to: URL(fileURLWithPath: output + "/" + name))
        progress("wrote \(output)/\(name)")
    }
}

extension JSONEncoder {
    static var readable: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        return encoder
    }
}
