import ArgumentParser
import Interchange

/// `geobucket load`: loads objects from a file into a bucket.
struct Load: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load objects from tables, JSON, GeoJSON, GPX, KML or property lists.",
        discussion: """
            The file's name and its beginning determine the format, unless --format is given; it may be \
            compressed (.gz, or .zip with one file). - reads standard input, geobucket://HOST:PORT/BUCKET \
            another service. Places are found by their usual names, separators, encodings and types are \
            found out; `geobucket inspect FILE` shows what, and the flags that say it.

            An object with an _id replaces the one that has it. Objects are sent in groups, and each \
            group is stored whole or not at all.
            """)

    @Argument(help: "The file, - for standard input, or the address of a bucket.")
    var file: String

    @OptionGroup var loading: LoadingOptions

    @OptionGroup var flags: MappingFlags

    @Option(help: ArgumentHelp("Go on at this record of the file.", valueName: "number"))
    var from = 1

    @Option(help: ArgumentHelp("A file for what is skipped, as it came.", valueName: "file"))
    var rejects: String?

    @Flag(help: "Say what would be loaded, and stop.")
    var dryRun = false

    func validate() throws {
        _ = try flags.options()
        if rejects != nil, loading.onError == .stop {
            throw ValidationError("--rejects needs --on-error skip: otherwise nothing is skipped")
        }
        guard from > 0 else { throw ValidationError("--from has to be 1 or more, not \(from)") }
    }

    func run() async throws {
        if let bucket = RemoteBucket(file) { return try await loading.load(bucket, flags) }
        if dryRun {
            return try Console.write(Inspection(try open(ServerLimits.usual)).summary)
        }
        try await loading.load(named: file, rejects: rejects, needsObjects: true) { limits in
            let opened = try open(limits)
            Inspection(opened).tell()
            return opened
        }
    }

    private func open(_ limits: ServerLimits) throws -> RecordFile {
        var options = try flags.options()
        options.limits.documentSize = limits.objectSize
        options.firstRecord = from
        options.skipsErrors = loading.onError == .skip
        options.keepsSource = rejects != nil
        return try RecordFile(opening: file, flags, options)
    }
}

extension RecordFile {
    /// Opens a file; what is wrong with a flag is a usage error, anything else a failure.
    convenience init(
        opening file: String, _ flags: MappingFlags, _ options: ReadingOptions
    ) throws {
        do throws(InterchangeError) {
            try self.init(path: file, format: flags.format, options: options)
        } catch {
            if error.isUsage { throw ValidationError("\(file): \(error)") }
            throw CommandFailure(error, reading: file)
        }
        try flags.check(for: format)
    }
}

extension CommandFailure {
    /// - Parameter file: its path, or `-`.
    init(_ error: InterchangeError, reading file: String) {
        self.init("\(file == "-" ? "standard input" : file): \(error)")
    }
}
