import Objects
import ServiceDesk
import TestSupport
import Testing

/// The params of each method: which it needs, which it takes, and how it refuses the others.
@Suite struct MethodParamsTests {
    /// A method with the params that it needs, and those that it takes besides, each alone.
    struct Sample: CustomTestStringConvertible {
        let name: MethodName
        let required: [(name: String, value: String)]
        let optional: [(name: String, value: String)]

        init(
            _ name: MethodName, _ required: KeyValuePairs<String, String> = [:],
            _ optional: KeyValuePairs<String, String> = [:]
        ) {
            self.name = name
            self.required = required.map { ($0.key, $0.value) }
            self.optional = optional.map { ($0.key, $0.value) }
        }

        var testDescription: String { "\(name.text)" }
    }

    private static let place = #"{"_type":"point","lat":1,"lon":2}"#
    private static let clause = #"{"clause":{"type":"all"}}"#

    static let samples: [Sample] = [
        Sample(.info), Sample(.ping), Sample(.statistics, [:], ["cluster": "true"]),
        Sample(.activity), Sample(.cancel, ["id": "1"]),
        Sample(.route, ["bucket": #""b1""#]), Sample(.login, ["token": #""t""#]),
        Sample(.listBuckets, [:], ["scope": #""users/al""#, "paginationKey": #""b1""#]),
        Sample(.count, ["bucket": #""b1""#], ["bucketQuery": clause, "hints": "true"]),
        Sample(
            .query, ["bucket": #""b1""#],
            [
                "bucketQuery": clause, "bestEffortLimit": "5", "paginationKey": #""k""#,
                "fields": #"["a"]"#, "hints": "true",
            ]),
        Sample(
            .explain, ["bucket": #""b1""#],
            [
                "bucketQuery": clause, "bestEffortLimit": "5", "paginationKey": #""k""#,
                "fields": #"["a"]"#, "analyze": "true",
            ]),
        Sample(
            .clusters, ["bucket": #""b1""#, "zoom": "3"],
            [
                "bucketQuery": clause, "field": #""p""#, "bits": "4", "fields": #"["a"]"#,
                "objects": "5", "ifState": #""s""#,
                "box": #"{"sw":\#(place),"ne":\#(place)}"#,
            ]),
        Sample(.fields, ["bucket": #""b1""#]),
        Sample(.export, ["bucket": #""b1""#], ["continue": "true"]),
        Sample(.deleteBucket, ["bucket": #""b1""#]),
        Sample(
            .deleteWhere, ["bucket": #""b1""#, "bucketQuery": clause], ["dryRun": "true"]),
        Sample(
            .create, ["bucket": #""b1""#, "object": "{}"],
            ["dataType": #""t""#, "expiresAt": "5"]),
        Sample(
            .put, ["bucket": #""b1""#, "id": #""o1""#, "object": "{}"],
            ["dataType": #""t""#, "expiresAt": "5", "ifNewer": #""t""#, "ifVersion": "1"]),
        Sample(
            .patch, ["bucket": #""b1""#, "id": #""o1""#, "object": "{}"],
            [
                "expiresAt": "null", "ifNewer": #""t""#, "ifVersion": "1", "storeNulls": "true",
            ]),
        Sample(.get, ["bucket": #""b1""#, "id": #""o1""#]),
        Sample(.delete, ["bucket": #""b1""#, "id": #""o1""#], ["ifVersion": "1"]),
        Sample(
            .putMany, ["bucket": #""b1""#, "objects": "[{}]"],
            ["expiresAt": "5", "ifNewer": #""t""#, "withMetadata": "true"]),
        Sample(
            .startWatch, ["bucket": #""b1""#], ["bucketQuery": clause, "fields": #"["a"]"#]),
        Sample(.moveWatch, ["watch": #""w1""#], ["bucketQuery": clause]),
        Sample(.syncWatch, ["watch": #""w1""#]), Sample(.stopWatch, ["watch": #""w1""#]),
        Sample(.check, [:], ["cluster": "true"]), Sample(.backup, [:], ["continue": "true"]),
        Sample(.compact),
    ]

    /// How the params are refused: `INVALID_INPUT_DATA bucket`; nil if they are taken.
    private static func refusal(
        _ name: MethodName, _ params: [(name: String, value: String)]
    ) -> String? {
        let text = params.map { #""\#($0.name)":\#($0.value)"# }.joined(separator: ",")
        let line = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"\#(name.text)","params":{\#(text)}}"#.utf8)
        let parser = RequestParser(limits: Limits())
        return withExtendedLifetime(parser) {
            guard case .single(let request) = line.withUnsafeBufferPointer({ parser.parse($0) })
            else { return "no request" }
            do throws(ServiceFailure) {
                _ = try Method[name].call(request, Limits())
                return nil
            } catch {
                return "\(error.reason.rawValue) \(error.path ?? "-")"
            }
        }
    }

    /// What every method of a kind takes besides its own.
    private static func shared(_ name: MethodName) -> [(name: String, value: String)] {
        Method[name].isWrite ? [("requestKey", #""k1""#)] : [("atLeast", "7")]
    }

    @Test func `There is a sample of each method`() {
        #expect(Self.samples.map(\.name.rawValue) == MethodName.allCases.map(\.rawValue))
    }

    @Test(arguments: samples)
    func `A method takes what it needs, and each further param of its own`(_ sample: Sample) {
        #expect(Self.refusal(sample.name, sample.required) == nil)
        for param in sample.optional + Self.shared(sample.name) {
            #expect(Self.refusal(sample.name, sample.required + [param]) == nil, "\(param)")
        }
    }

    @Test(arguments: samples)
    func `A param that is missing is named`(_ sample: Sample) {
        for position in sample.required.indices {
            var params = sample.required
            let missing = params.remove(at: position).name
            let code = missing == "id" ? "INVALID_OBJECT_ID" : "INVALID_INPUT_DATA"
            let found = Self.refusal(sample.name, params)
            #expect(
                found == "\(code) \(missing)" || found == "INVALID_INPUT_DATA \(missing)",
                "\(missing)")
        }
    }

    @Test(arguments: samples)
    func `A param that the method does not have is refused by name`(_ sample: Sample) {
        let own = Set((sample.required + sample.optional + Self.shared(sample.name)).map(\.name))
        let others = Set(
            Self.samples.flatMap { ($0.required + $0.optional).map(\.name) }
                + ["requestKey", "atLeast", "Bucket", "", "é"])
        for name in others.subtracting(own).subtracting(Self.unlisted) {
            #expect(
                Self.refusal(sample.name, sample.required + [(name, "1")])
                    == "INVALID_INPUT_DATA \(name)", "\(name)")
        }
    }

    /// Params of some methods that no sample has beside the others.
    private static let unlisted: Set<String> = ["bestEffortLimit", "fields", "cluster"]

    @Test(arguments: samples)
    func `A param of another kind is refused, and so is null where it has no meaning`(
        _ sample: Sample
    ) {
        for param in sample.required + sample.optional + Self.shared(sample.name) {
            let others = sample.required.filter { $0.name != param.name }
            for value in ["null", "[]", "{}", "1.5", "false", #""""#, "-1"] {
                // Some of these are what the param may be.
                if Self.isFitting(value, param.name) { continue }
                let found = Self.refusal(sample.name, others + [(param.name, value)])
                let place = found?.split(separator: " ").last ?? "-"
                #expect(
                    place == param.name || place.hasPrefix(param.name + "."),
                    "\(param.name): \(value) is \(found ?? "taken")")
            }
        }
    }

    private static func isFitting(_ value: String, _ name: String) -> Bool {
        switch value {
        case "{}": ["object", "bucketQuery"].contains(name)
        case "null": name == "expiresAt"
        case "[]": ["fields", "objects"].contains(name)
        case "false":
            [
                "cluster", "continue", "analyze", "storeNulls", "hints", "dryRun", "withMetadata",
            ].contains(name)
        case #""""#: ["token", "watch", "paginationKey", "field", "ifState"].contains(name)
        default: false
        }
    }

    @Test func `Params that contradict each other are refused`() {
        let object = [("bucket", #""b1""#), ("id", #""o1""#), ("object", "{}")]
        for (name, more, place) in [
            (.put, [("ifAbsent", "true"), ("ifVersion", "1")], "ifAbsent"),
            (.put, [("ifAbsent", "false"), ("ifVersion", "1")], nil),
            (.patch, [("returnObject", "true"), ("requestKey", #""k""#)], "returnObject"),
            (.patch, [("returnObject", "false"), ("requestKey", #""k""#)], nil),
            (.put, [("ifNewer", #""_modified""#)], "ifNewer"),
            (.put, [("expiresAt", "9007199254740992")], "expiresAt"),
            (.put, [("expiresAt", "9007199254740991")], nil),
        ] as [(MethodName, [(name: String, value: String)], String?)] {
            let expected = place.map { "INVALID_INPUT_DATA \($0)" }
            #expect(Self.refusal(name, object + more) == expected, "\(more)")
        }
    }
}
