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

    enum OnError: String, ExpressibleByArgument, CaseIterable { case stop, skip }

    func validate() throws {
        try usage("--bucket") { _ = try BucketName(bucket) }
    }

    /// Sends every record and prints the outcome.
    ///
    /// - Parameters:
    ///   - name: the file, for messages.
    ///   - records: opens the file; called when the service's limits are known.
    func load(
        named name: String, _ records: (ServerLimits) throws(InterchangeError) -> some RecordSource
    ) async throws {
        let name = name == "-" ? "standard input" : name
        let onError = onError
        let bucket = bucket
        let summary = try await server.connect { connection in
            let limits = try await ServerLimits(of: connection)
            var loader = Loader(
                connection: connection, bucket: bucket, limits: limits,
                skipsErrors: onError == .skip)
            do {
                await loader.load(try records(limits))
            } catch let error as InterchangeError {
                throw CommandFailure("\(name): \(error)")
            }
            return loader.summary
        }
        try Console.write(summary.line + "\n")
        if let failure = summary.stoppedBy { throw CommandFailure("\(name): \(failure)") }
    }
}
