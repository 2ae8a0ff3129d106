import ArgumentParser
import EmbeddedBackend
import GeoBucketClient
import Glibc
import JSONText
import Runtime
import ServiceDesk

/// `geobucket doctor`: says what is wrong with a service or a store, or will be.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Say what is wrong with a service or a store, or will be.",
        discussion: """
            Looks at room on the disk, limits of open files, memory against objects, the clock, the \
            certificate, scans that want a column, watches and a cluster's lag; for administrators. With \
            --store it looks at a file that no service has to have open. A sentence for each finding; \
            status 1 if there is one.
            """)

    @Option(help: ArgumentHelp("A store's file instead of a service.", valueName: "path"))
    var store: String?

    @OptionGroup var server: ServerOption

    func validate() throws {
        if store != nil, server.server != nil {
            throw ValidationError("--server and --store exclude each other")
        }
    }

    func run() async throws {
        let findings = if let store { try Self.findings(of: store) } else { try await online() }
        for finding in findings { try Console.write(finding + "\n") }
        guard findings.isEmpty else { throw ExitCode(1) }
        try Console.write("nothing is wrong\n")
    }

    private func online() async throws -> [String] {
        try await server.connect { connection in
            let info = try await connection.call("server.info", Array("{}".utf8))
            let begin = monotonicNanoseconds()
            let stats = try await connection.call("server.stats", Array("{}".utf8))
            let (end, now) = (monotonicNanoseconds(), wallMilliseconds())
            let sample = try ServiceSample(
                stats: stats, activity: Array("{}".utf8), at: Double(end) / 1e9)
            let (limit, version) = try JSONParser.reading(info) { view in
                (
                    view["limits"]?["connections"]?.number?.exactInt ?? 0,
                    view["version"]?.string ?? ""
                )
            }
            // The service looked at its clock about half way between the question and the answer.
            let asked = Double(now) - Double(end - begin) / 2e6
            let diagnosis = Diagnosis(
                sample: sample, connectionLimit: limit,
                clockAhead: (sample.numbers["host.time"] ?? asked) - asked, now: Double(now))
            let own = QueryService.version
            let difference =
                version == own ? [] : ["it has version \(version), and this program \(own)"]
            return difference + diagnosis.findings
        }
    }

    private static func findings(of path: String) throws -> [String] {
        let look: StoreLook
        do {
            look = try StoreLook(path: path)
        } catch {
            return ["the store cannot be read: \(error)"]
        }
        var findings: [String] = []
        if look.diskFreeBytes < 1 << 30 || look.diskFreeBytes < look.bytes {
            findings.append(
                "\(Amounts.bytes(look.diskFreeBytes)) are free on its disk, and the store has "
                    + Amounts.bytes(look.bytes))
        }
        if look.freeBytes > 64 << 20, look.freeBytes > look.bytes / 4 {
            findings.append(
                "\(Amounts.bytes(look.freeBytes)) of its \(Amounts.bytes(look.bytes)) are free pages: "
                    + "`geobucket compact` gives them back while a service runs")
        }
        if !look.givesPagesBack {
            findings.append(
                "an earlier version has made the file: it never gets shorter before "
                    + "`geobucket compact` has written it anew")
        }
        if look.isReadByAll {
            findings.append("every user of this machine may read it; chmod o-rwx takes that away")
        }
        if look.logBytes > 1 << 30 {
            findings.append(
                "its write-ahead log has \(Amounts.bytes(look.logBytes)): a start has to read it")
        }
        return findings
    }
}
