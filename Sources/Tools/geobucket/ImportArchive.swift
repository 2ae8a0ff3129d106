import Archives
import ArgumentParser
import Interchange

/// `geobucket import-archive`: loads objects from an NSKeyedArchiver file into a bucket.
struct ImportArchive: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-archive",
        abstract: "Load objects from a file that NSKeyedArchiver wrote.",
        discussion: """
            The classes of the archived objects are not needed. An array or set at the top becomes many \
            objects, anything else one. With --value, a value that is not an object, such as a \
            string, becomes one. Dates become milliseconds since 1970, data base64, and a CLLocation \
            a GeoPoint. Instances of other classes become objects with the keys that they encoded.

            Example: geobucket import-archive shops.plist --bucket shops --id number \
            --geopoint lat,lon=location --map MYShop=kind
            """)

    @Argument(help: "The file, binary or XML, plain or gzipped; - for standard input.")
    var file: String

    @OptionGroup var loading: LoadingOptions

    @Option(
        help: ArgumentHelp(
            "A top-level key of the archive to read; repeatable. (default: root, or the only key)",
            valueName: "name"))
    var key: [String] = []

    @Option(
        help: ArgumentHelp(
            "Put the name of an archived class into a field of its objects; repeatable.",
            valueName: "class=field"))
    var map: [ClassMapping] = []

    @Option(
        help: ArgumentHelp(
            "Two fields of degrees that become one GeoPoint; repeatable.",
            valueName: "lat,lon=field"))
    var geopoint: [ArchivedRecords.PointMapping] = []

    @Option(help: ArgumentHelp("The field that becomes the id.", valueName: "field"))
    var id: String?

    @Option(
        help: ArgumentHelp(
            "The field for values that are not objects: strings, numbers, lists in lists.",
            valueName: "field"))
    var value: String?

    @Flag(
        help:
            "Remove underscores at the beginning of field names: _name becomes name, _id becomes id."
    )
    var stripUnderscores = false

    @Flag(
        help:
            "Leave out members that refer back to an object around them, such as a parent; count them."
    )
    var cutReferences = false

    @Option(help: "References back: refuse, or cut, which is --cut-references.")
    var cycles = PropertyListFlags.Cycles.refuse

    @OptionGroup(title: "Limits") var limitFlags: Limits

    /// The flags of `ArchiveLimits`.
    struct Limits: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "Bytes of the file, uncompressed. (default: 268435456)", valueName: "size"),
            transform: Measure.bytes.argument)
        var fileBytes: Int?
        @Option(help: "Levels of nested containers; at most 900. (default: 200)")
        var depth: Int?
        @Option(help: "Values read, counted each time they are read. (default: 10000000)")
        var values: Int?
        @Option(
            help:
                "Values of one object, shared ones counted wherever they appear. (default: 100000)")
        var objectValues: Int?

        var limits: ArchiveLimits {
            var limits = ArchiveLimits()
            if let fileBytes { limits.fileBytes = fileBytes }
            if let depth { limits.depth = depth }
            if let values { limits.values = values }
            if let objectValues { limits.objectValues = objectValues }
            return limits
        }

        func validate() throws {
            let flags = [
                ("file-bytes", fileBytes, Int.max), ("depth", depth, 900),
                ("values", values, .max), ("object-values", objectValues, .max),
            ]
            for (name, value, most) in flags where value.map({ !(1...most).contains($0) }) ?? false
            {
                throw ValidationError("--\(name) has to be 1 to \(most), not \(value ?? 0)")
            }
        }
    }

    struct ClassMapping: ExpressibleByArgument {
        var className: String
        var field: String

        init?(argument: String) {
            guard let (name, field) = halves(argument, at: "=") else { return nil }
            (className, self.field) = (name, field)
        }
    }

    func run() async throws {
        var options = ArchivedRecords.Options()
        options.keys = key
        options.geoPoints = geopoint
        options.idField = id
        options.valueField = value
        options.stripsUnderscores = stripUnderscores
        options.archive.limits = limitFlags.limits
        options.archive.cutsReferences = cutReferences || cycles == .cut
        for mapping in map { options.archive.typeFields[mapping.className] = mapping.field }
        try await loading.load(named: file) { limits in
            var reading = ReadingOptions()
            reading.limits.documentSize = limits.objectSize
            return try ArchiveFile(path: file, options: options, reading: reading)
        }
    }
}

extension ArchivedRecords.PointMapping: ExpressibleByArgument {
    /// Parses `LATITUDE,LONGITUDE=FIELD`, each a field path; nil for anything else.
    public init?(argument: String) {
        guard let (pair, field) = halves(argument, at: "="),
            let (latitude, longitude) = halves(pair, at: ",")
        else { return nil }
        self.init(latitude: latitude, longitude: longitude, field: field)
    }
}

/// The two sides of the only separator; nil if there is not exactly one, or if a side is empty.
private func halves(_ text: String, at separator: Character) -> (String, String)? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return nil }
    return (String(parts[0]), String(parts[1]))
}
