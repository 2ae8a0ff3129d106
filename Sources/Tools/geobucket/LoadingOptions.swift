import ArgumentParser
import GeoBucketClient
import Interchange
import Objects

/// The options of commands that write records into a bucket.
struct LoadingOptions: ParsableArguments {
    @Option(help: "The bucket to load into.")
    var bucket: String

    @OptionGroup var server: ServerOption

    @Option(help: "What to do at a bad record: stop or skip.")
    var onError = OnError.stop

    @Flag(
        help: "Keep the objects' times, versions, owners, types and expiry; for administrators.")
    var withMetadata = false

    enum OnError: String, ExpressibleByArgument, CaseIterable { case stop, skip }

    func validate() throws {
        try usage("--bucket") { _ = try BucketName(bucket) }
    }

    /// Sends every record and prints the outcome.
    ///
    /// - Parameters:
    ///   - name: the file, for messages.
    ///   - rejects: the path of the file for what is skipped.
    ///   - needsObjects: whether it is a failure to skip all records.
    ///   - records: opens the file; called when the service's limits are known.
    func load(
        named name: String, rejects: String? = nil, needsObjects: Bool = false,
        _ records: (ServerLimits) throws -> some RecordSource
    ) async throws {
        let name = name == "-" ? "standard input" : name
        try await load(named: name, try rejects.map(RejectsFile.init), needsObjects) {
            loader, limits in
            do {
                await loader.load(try records(limits))
            } catch let error as InterchangeError {
                throw CommandFailure(error, reading: name)
            }
        }
    }

    /// Copies a bucket of another service.
    func load(_ source: RemoteBucket, _ flags: MappingFlags) async throws {
        try flags.check(for: .ndjson)
        let mapping = try flags.options().mapping
        try await load(named: source.bucket, nil, true) { loader, limits in
            var reading = Limits()
            reading.documentSize = limits.objectSize
            let records = MappedRecords(mapping, limits: reading)
            var number = 0
            try await source.forEachPage { objects in
                for object in objects where loader.mayGoOn {
                    number += 1
                    await loader.take(records.record(number, object))
                }
            }
            await loader.finish()
        }
    }

    private func load(
        named name: String, _ rejects: RejectsFile?, _ needsObjects: Bool,
        _ body: (inout Loader, ServerLimits) async throws -> Void
    ) async throws {
        let (onError, bucket, keepsMetadata) = (onError, bucket, withMetadata)
        Interruption.catchSignals()
        let summary = try await server.connect { connection in
            let limits = try await ServerLimits(of: connection)
            var loader = Loader(
                connection: connection, bucket: bucket, limits: limits,
                skipsErrors: onError == .skip, keepsMetadata: keepsMetadata, rejects: rejects)
            try await body(&loader, limits)
            return loader.summary
        }
        if let dropped = summary.dropped.sentence { Console.error(dropped, prefix: "") }
        try Console.write(summary.line + "\n")
        try rejects?.close()
        if let failure = summary.stoppedBy { throw CommandFailure("\(name): \(failure)") }
        if needsObjects, summary.errors > 0, summary.objects == 0 {
            throw CommandFailure("\(name): not one record could be loaded")
        }
    }
}
