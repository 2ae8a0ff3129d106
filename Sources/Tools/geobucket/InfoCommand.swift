import ArgumentParser
import Foundation
import GeoBucketClient
import Interchange
import JSONText

/// `geobucket info`: tells a service's version, store and limits.
struct InfoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Print a service's version, store and limits.",
        discussion: "It needs no login. `geobucket stats` tells what the service does.")

    @OptionGroup var server: ServerOption

    @Option(help: "table or json.")
    var format = Format.table

    enum Format: String, ExpressibleByArgument, CaseIterable { case table, json }

    func run() async throws {
        let answer = try await server.connect {
            try await $0.call("server.info", Array("{}".utf8))
        }
        guard format == .table else { return try Console.write(answer + [UInt8(ascii: "\n")]) }
        let rows = try JSONParser.reading(answer) { Self.rows(of: $0) }
        let width = rows.map(\.name.count).max() ?? 0
        for row in rows {
            let name = row.name.padding(toLength: width, withPad: " ", startingAt: 0)
            try Console.write(TerminalLine.fitted("\(name)  \(row.value)", to: nil) + "\n")
        }
    }

    /// The members, those inside of others by their own names; of an array its elements.
    private static func rows(of view: JSONView) -> [(name: String, value: String)] {
        view.members.flatMap { member -> [(name: String, value: String)] in
            let (name, value) = (String(decoding: member.name, as: UTF8.self), member.value)
            switch value.kind {
            case .object: return rows(of: value)
            case .array: return [(name, value.elements.map(Self.text).joined(separator: ", "))]
            default: return [(name, text(value))]
            }
        }
    }

    private static func text(_ value: JSONView) -> String {
        value.string ?? String(decoding: value.text, as: UTF8.self)
    }
}
