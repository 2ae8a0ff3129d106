import ArgumentParser
import GeoBucketClient
import JSONText
import Objects
import Runtime

/// A bucket and the service that has it.
struct BucketArgument: ParsableArguments {
    @Argument(help: "The bucket.")
    var bucket: String

    @OptionGroup var server: ServerOption

    func validate() throws { try usage("BUCKET") { _ = try BucketName(bucket) } }

    /// The params of a method: the bucket, and what `more` appends.
    func params(_ more: (inout JSONWriter) -> Void = { _ in }) -> [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"bucket\":")
        writer.string(bucket)
        more(&writer)
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    /// Calls a method for each of some objects, and goes on behind those that are not there.
    ///
    /// - Parameters:
    ///   - more: appends further params.
    ///   - answer: takes each result.
    /// - Throws: `CommandFailure` at the end if some were not there.
    func forEach(
        _ ids: [String], call method: String, with more: (inout JSONWriter) -> Void = { _ in },
        answer: ([UInt8]) throws -> Void = { _ in }
    ) async throws {
        var missing: [String] = []
        try await server.connect { connection in
            for id in ids {
                let params = params { writer in
                    writer.key("id")
                    writer.string(id)
                    more(&writer)
                }
                do {
                    try answer(try await connection.call(method, params))
                } catch ClientFailure.refused(let failure)
                    where ids.count > 1 && failure.reason == .objectNotFound
                {
                    missing.append(id)
                }
            }
        }
        guard missing.isEmpty else {
            throw CommandFailure(
                "\(missing.count) of \(ids.count) objects are not there: "
                    + missing.joined(separator: ", "))
        }
    }
}

/// `geobucket get`: prints objects by id.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print objects by id, one a line.",
        discussion: "Example: geobucket get airports RJTT RJAA")

    @OptionGroup var bucket: BucketArgument

    @Argument(help: "The objects' ids.")
    var ids: [String]

    func run() async throws {
        try await bucket.forEach(
            ids, call: "object.get",
            answer: { try Console.write($0 + [UInt8(ascii: "\n")]) })
    }
}

/// `geobucket delete`: deletes objects by id.
struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete objects by id.",
        discussion: "Example: geobucket delete shops kiosk-7")

    @OptionGroup var bucket: BucketArgument

    @Argument(help: "The objects' ids.")
    var ids: [String]

    @Option(help: "Only if the object has this version; with one id.")
    var ifVersion: Int?

    func validate() throws {
        if ifVersion != nil, ids.count > 1 {
            throw ValidationError("--if-version goes with one id")
        }
    }

    func run() async throws {
        let version = ifVersion
        try await bucket.forEach(ids, call: "object.delete") { writer in
            guard let version else { return }
            writer.key("ifVersion")
            writer.integer(version)
        }
        Console.error("\(counted(ids.count, "object")) deleted")
    }
}

/// An object's id, its JSON and the conditions of a write.
struct WriteArguments: ParsableArguments {
    @OptionGroup var bucket: BucketArgument

    @Argument(help: "The object's id.")
    var id: String

    @Argument(help: "A file with JSON; - reads standard input.")
    var file = "-"

    @Option(help: "Only if the object has this version.")
    var ifVersion: Int?

    @Option(
        help: ArgumentHelp(
            "How long the object lives from now on, such as 90s, 30m, 2h or 7d.",
            valueName: "duration"))
    var expires: TimeLength?

    /// Calls a method and prints its result.
    func call(_ method: String, _ more: (inout JSONWriter) -> Void = { _ in }) async throws {
        let name = file == "-" ? "standard input" : file
        let text = try Files.contents(of: file == "-" ? "/dev/stdin" : file)
        let object: [UInt8]
        do {
            object = try JSONParser.reading(text) { minifiedJSON($0.text) }
        } catch {
            throw CommandFailure("\(name) is not JSON: \(error)")
        }
        let params = bucket.params { writer in
            writer.key("id")
            writer.string(id)
            writer.key("object")
            writer.raw(object)
            if let ifVersion {
                writer.key("ifVersion")
                writer.integer(ifVersion)
            }
            if let expires {
                writer.key("expiresAt")
                writer.integer(Int(wallMilliseconds()) + expires.milliseconds)
            }
            more(&writer)
        }
        let result = try await bucket.server.connect { try await $0.call(method, params) }
        try Console.write(result + [UInt8(ascii: "\n")])
    }
}

/// `geobucket put`: creates or replaces an object.
struct PutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Create or replace an object.",
        discussion: """
            Example: echo '{"name":"Tower","at":{"_type":"point","lat":35.66,"lon":139.75}}' | \
            geobucket put shops tower
            """)

    @OptionGroup var arguments: WriteArguments

    @Flag(help: "Only if there is no object of that id.")
    var ifAbsent = false

    func validate() throws {
        if ifAbsent, arguments.ifVersion != nil {
            throw ValidationError("--if-absent and --if-version contradict each other")
        }
    }

    func run() async throws {
        let ifAbsent = ifAbsent
        try await arguments.call("object.put") { writer in
            if ifAbsent { writer.raw(",\"ifAbsent\":true") }
        }
    }
}

/// `geobucket patch`: changes fields of an object.
struct PatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "patch",
        abstract: "Change some fields of an object; null removes a field (JSON Merge Patch).",
        discussion: "Example: echo '{\"open\":false}' | geobucket patch shops tower")

    @OptionGroup var arguments: WriteArguments

    func run() async throws { try await arguments.call("object.patch") }
}
