import ArgumentParser
import Interchange
import JSONText

/// `geobucket inspect`: shows what `load` would do with a file.
struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what load would make of a file: format, fields, places, ids and flags.",
        discussion: """
            It looks at the first 10,000 records, or at all of them with --all, and needs no service. The \
            last line is the command that says explicitly what was found out.
            """)

    @Argument(help: "The file, or - for standard input.")
    var file: String

    @OptionGroup var flags: MappingFlags

    @Flag(help: "Look at all records, not only at the first 10,000.")
    var all = false

    @Flag(name: .customLong("flags"), help: "Print only the flags, one a line, for --mapping.")
    var onlyFlags = false

    func validate() throws { _ = try flags.options() }

    func run() async throws {
        var options = try flags.options()
        options.surveysAll = all
        let opened = try RecordFile(opening: file, flags, options)
        let inspection = Inspection(opened)
        if onlyFlags { return try Console.write(inspection.flagLines) }
        do {
            try Console.write(inspection.summary + (try inspection.details()))
        } catch let error as InterchangeError {
            throw CommandFailure(error, reading: file)
        }
        try Console.write("\n" + inspection.command(file) + "\n")
    }
}

/// What was understood of a file, for people.
struct Inspection {
    private let file: RecordFile
    private var found: Understanding { file.understanding }

    init(_ file: RecordFile) { self.file = file }

    /// Three lines and the warnings.
    var summary: String {
        (found.summary + found.warnings.map { "warning: \($0)" }).map { $0 + "\n" }.joined()
    }

    /// The summary where a person sees it, and the warnings everywhere.
    func tell() {
        if Console.errorIsTerminal {
            for line in found.summary { Console.error(line, prefix: "") }
        }
        for warning in found.warnings { Console.error(warning) }
    }

    /// The fields and the first three objects.
    func details() throws -> String {
        var text = "\nfields:\n"
        let columns = Dictionary(uniqueKeysWithValues: found.columns.map { ($0.name, $0.type) })
        for field in found.fields {
            let type = columns[field.name].map { ", a column of \(Self.name($0))" } ?? ""
            text += "  \(field.name): \(field.summary)\(type)\n"
        }
        text += "\nfirst objects:\n"
        for _ in 0..<3 {
            guard let record = try file.next() else { break }
            switch record.result {
            case .success(let object): text += "  \(String(decoding: object, as: UTF8.self))\n"
            case .failure(let error): text += "  \(file.recordName) \(record.number): \(error)\n"
            }
        }
        return text
    }

    private static func name(_ type: ColumnType) -> String {
        switch type {
        case .text: "texts"
        case .number(let comma): comma ? "numbers with a comma" : "numbers"
        case .boolean: "booleans"
        case .date(let format): format.map { "dates of the form \($0)" } ?? "dates"
        }
    }

    /// The flags, each with its value on one line.
    var flagLines: String {
        var lines: [String] = []
        for word in found.flags {
            if word.hasPrefix("--") {
                lines.append(word)
            } else {
                lines[lines.count - 1] += " " + FlagWords.quoted(word)
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The command that loads the file without finding anything out.
    func command(_ file: String) -> String {
        let words = ["geobucket", "load", file, "--bucket", "BUCKET"] + found.flags
        return words.map(FlagWords.quoted).joined(separator: " ")
    }
}
