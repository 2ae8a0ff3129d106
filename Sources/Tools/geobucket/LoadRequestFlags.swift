import ArgumentParser
import Geodesy
import Interchange
import JSONText
import LoadTest
import Objects
import QueryLanguage
import SyntheticData

/// The flags of `loadtest` for the requests to send.
struct LoadRequestFlags: ParsableArguments {
    @Option(help: "The bucket to send requests to.")
    var bucket = "loadtest"

    @Option(
        help: ArgumentHelp(
            "Put this many objects into the bucket first, four in five around cities.",
            valueName: "objects"))
    var prepare: Int?

    @Option(
        help: ArgumentHelp(
            "Kinds of requests with their weights. (default: \(Self.usualMix))",
            valueName: "kind=weight,…"))
    var mix: String?
    private static let usualMix = "radius=60,nearest=25,box=15"

    @Option(help: "The GeoPoint field to search and to move.")
    var field = "location"

    @Option(help: "Radius of circles, and half the side of boxes.")
    var radius = "5km"

    @Option(help: "How far one move takes an object, or a watch.")
    var step = "100m"

    @Option(help: "How many watches there are at once, spread over the connections.")
    var watches = 0

    @Option(help: "The radius of watches.")
    var watchRadius = "2km"

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "The condition of the kind filter. (default: rating >= 50)", valueName: "expr"))
    var condition: String?

    @Option(
        help: ArgumentHelp(
            "A file of search centres: one LATITUDE,LONGITUDE a line.",
            valueName: "file"))
    var centers: String?

    @Option(help: "Seed of positions, kinds and objects: the same seed makes the same requests.")
    var seed: UInt64 = 1

    /// The most objects that --prepare creates.
    private static let mostObjects = 100_000_000

    /// - Throws: `ValidationError` that names the flag at fault.
    func settings(_ preset: LoadPreset?) throws -> RequestSettings {
        let mix = try usage("--mix") { try Mix(self.mix ?? preset?.mix ?? Self.usualMix) }
        try usage("--bucket") { _ = try BucketName(bucket) }
        if let prepare, !(1...Self.mostObjects).contains(prepare) {
            throw ValidationError("--prepare has to be 1 to \(Self.mostObjects)")
        }
        var settings = RequestSettings(bucket: bucket, mix: mix)
        settings.field = field
        settings.radiusMeters = try meters("--radius", radius)
        settings.watchRadiusMeters = try meters("--watch-radius", watchRadius)
        settings.moveMeters = try meters("--step", step)
        settings.seed = seed
        if let condition {
            let clause = try usage("--where") {
                try FilterExpression.parse(condition)
            }
            var writer = JSONWriter()
            clause.write(to: &writer)
            settings.filter = writer.bytes
        }
        return settings
    }

    private func meters(_ flag: String, _ text: String) throws -> Double {
        let meters = try usage(flag) { try Length.parse(text) }
        guard meters > 0, meters <= GeoCircle.maximumRadiusMeters else {
            throw ValidationError(
                "\(flag): \(text) is outside 0...\(Int(GeoCircle.maximumRadiusMeters)) m")
        }
        return meters
    }

    /// The positions in the file of --centers; empty without the flag.
    func positions() throws -> [MicroPoint] {
        guard let centers else { return [] }
        let text = try Files.contents(of: centers)
        return try usage("--centers: \(centers)") { try Centers.parse(text) }
    }
}
