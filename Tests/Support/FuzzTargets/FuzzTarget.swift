import Archives
import BackendContract
import JSONText
import LiveQueries
import Objects
import QueryLanguage
import ServiceDesk

/// What bytes from outside meet first: each target takes any bytes, must not trap, and holds what is
/// promised of it. A broken promise is a trap too, which a fuzzer sees.
public enum FuzzTarget: String, Sendable, CaseIterable {
    case framer, json, request, query, watch, expression, cql2, pageKey, sums, mergePatch, tokens,
        archive, tiles, items, ranges, anyFile, table, records, features, places, list, placeText,
        flags

    public func run(_ bytes: [UInt8]) {
        switch self {
        case .framer: Self.framer(bytes)
        case .json: Self.json(bytes)
        case .request: Self.request(bytes)
        case .query: Self.query(bytes)
        case .watch: Self.watch(bytes)
        case .expression: Self.expression(bytes)
        case .cql2: Self.cql2(bytes)
        case .pageKey: PageKeyTarget.run(bytes)
        case .sums: SumsTarget.run(bytes)
        case .mergePatch: Self.mergePatch(bytes)
        case .tokens: Self.tokens(bytes)
        case .archive: Self.archive(bytes)
        case .tiles: WebTargets.tiles(bytes)
        case .items: WebTargets.items(bytes)
        case .ranges: WebTargets.ranges(bytes)
        case .anyFile: FileTargets.file(bytes, as: nil)
        case .table: FileTargets.file(bytes, as: .csv)
        case .records: FileTargets.file(bytes, as: .json)
        case .features: FileTargets.file(bytes, as: .geojson)
        case .places: FileTargets.file(bytes, as: .kml)
        case .list: FileTargets.file(bytes, as: .plist)
        case .placeText: FileTargets.place(bytes)
        case .flags: FileTargets.mapping(bytes)
        }
    }

    // MARK: Lines

    /// The first two bytes say how long a line may be and how the rest is cut; however it is, the
    /// same lines come out.
    private static func framer(_ bytes: [UInt8]) {
        guard bytes.count >= 2 else { return }
        let (limit, step) = (Int(bytes[0] % 32) + 1, Int(bytes[1] % 16) + 1)
        let text = bytes.dropFirst(2)
        precondition(lines(text, limit, step: step) == lines(text, limit, step: text.count + 1))
    }

    private static func lines(_ text: ArraySlice<UInt8>, _ limit: Int, step: Int) -> [[UInt8]?] {
        var framer = LineFramer(limit: limit)
        var found: [[UInt8]?] = []
        for start in stride(from: text.startIndex, to: text.endIndex, by: step) {
            text[start..<min(start + step, text.endIndex)].withUnsafeBytes { framer.append($0) }
            while let event = framer.next() {
                switch event {
                case .line(let range):
                    precondition((1...limit).contains(range.count))
                    found.append(Array(framer.buffer[range]))
                case .tooLong: found.append(nil)
                }
            }
            precondition(framer.pendingBytes <= limit + 1)
        }
        return found
    }

    // MARK: JSON

    /// Both parsers agree on it; what is JSON stays the same JSON when it is minified, and when it is
    /// a document.
    private static func json(_ bytes: [UInt8]) {
        let difference = ParserAgreement.difference(bytes)
        precondition(difference == nil, difference ?? "")
        let minified: [UInt8]? = try? JSONParser.reading(bytes) { view in
            _ = try? WrittenDocument(view, at: "object", limits: Limits())
            return minifiedJSON(view.text)
        }
        guard let minified else { return }
        let again = try? JSONParser.reading(minified) { minifiedJSON($0.text) }
        precondition(again == minified)
    }

    /// Every line is a request or told why not, in one line.
    private static func request(_ bytes: [UInt8]) {
        let parser = RequestParser(limits: Limits())
        let message = bytes.withUnsafeBufferPointer { parser.parse($0) }
        switch message {
        case .single(let unread): request(unread, bytes)
        case .batch(let ranges):
            precondition((1...Limits().batchRequests).contains(ranges.count))
            for range in ranges {
                bytes[range].withUnsafeBufferPointer { request(parser.parse(element: $0), bytes) }
            }
        }
    }

    private static func request(_ unread: UnreadRequest, _ bytes: [UInt8]) {
        guard let failure = failure(of: unread) else { return }
        var writer = JSONWriter()
        AnswerWriter.failure(failure, id: unread.id, to: &writer)
        precondition(!writer.bytes.contains(0x0A) || bytes.contains(0x0A))
        precondition((try? JSONParser.reading(writer.bytes) { $0.kind == .object }) == true)
    }

    private static func failure(of unread: UnreadRequest) -> RPCFailure? {
        switch unread.method {
        case .failure(let failure): return failure
        case .success(let name):
            do throws(ServiceFailure) {
                _ = try Method[name].call(unread, Limits())
                return nil
            } catch {
                return RPCFailure(error)
            }
        }
    }

    // MARK: Queries

    private static let sample = Array(
        #"{"_id":"o1","n":1.0,"s":"é","b":true,"z":null,"a":[1,"x",null],"p":{"_type":"point","lat":1,"lon":180},"o":{"p":{"_type":"point","lat":-90,"lon":0}},"ps":[{"_type":"point","lat":1,"lon":-180},{"_type":"point","lat":35.7,"lon":139.7}]}"#
            .utf8)

    private static func parsed(_ params: [UInt8]) throws -> Query {
        try JSONParser.reading(params) { view in
            var reader = try MemberReader(view)
            return try QueryParser(limits: Limits()).query(from: &reader)
        }
    }

    /// Clauses and aggregations that are written out are the same ones, and the normal form of a
    /// clause says the same.
    private static func query(_ bytes: [UInt8]) {
        guard let query = try? parsed(bytes) else { return }
        var description = JSONWriter()
        query.writeDescription(to: &description)
        check(query.clause)
        precondition((try? aggregations(query.aggregations)) == query.aggregations)
    }

    /// Aggregations as they are read once they are written out.
    private static func aggregations(_ aggregations: [Aggregation]) throws -> [Aggregation] {
        var writer = JSONWriter()
        writer.raw(#"{"bucketQuery":{"aggregations":["#)
        for (index, aggregation) in aggregations.enumerated() {
            if index > 0 { writer.raw(",") }
            aggregation.write(to: &writer)
        }
        writer.raw("]}}")
        return try parsed(writer.bytes).aggregations
    }

    /// The params of `watch.start` without the bucket. What is refused is refused with a path, or as a
    /// whole; what is read says which buckets it reads, once each, its own among them.
    private static func watch(_ bytes: [UInt8]) {
        let bucket = BucketName(trusted: "couriers")
        _ = try? JSONParser.reading(bytes) { view in
            var members = try MemberReader(view)
            let request = try WatchRequest(bucket: bucket, from: &members, limits: Limits())
            precondition(request.buckets.contains(bucket))
            precondition(Set(request.buckets).count == request.buckets.count)
            precondition(request.leaveRadius.map { $0.isFinite && $0 > 0 } ?? true)
            precondition(request.intervalMilliseconds.map { (0...60_000).contains($0) } ?? true)
        }
    }

    private static func expression(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let clause = try? FilterExpression.parse(text) { check(clause) }
    }

    /// What is refused is refused at a place in the text, or right behind it.
    private static func cql2(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        do throws(FilterSyntaxError) {
            check(try CQL2Filter.clause(text, Limits()))
        } catch {
            precondition((1...text.unicodeScalars.count + 1).contains(error.offset))
        }
    }

    /// A clause that is written out is the same one, and its normal form says the same.
    static func check(_ clause: Clause) {
        let written = Array(#"{"bucketQuery":{"clause":\#(clause.json)}}"#.utf8)
        if let again = try? parsed(written).clause { precondition(again == clause) }
        let truths = try? JSONParser.reading(sample) {
            (clause.evaluate(on: $0), clause.normalized.evaluate(on: $0))
        }
        precondition(truths.map { $0.0 == $0.1 } == true)
    }

    // MARK: Documents

    /// Two objects, a line each: what is merged is JSON, and merging again changes nothing.
    private static func mergePatch(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0x0A, maxSplits: 1).map(Array.init)
        guard parts.count == 2, let once = merged(parts[1], into: parts[0]) else { return }
        precondition(merged(parts[1], into: once) == once)
    }

    private static func merged(_ patch: [UInt8], into target: [UInt8]) -> [UInt8]? {
        try? JSONParser.reading(target) { target in
            guard target.kind == .object else { return nil }
            return try JSONParser.reading(patch) { patch in
                try MergePatch.check(patch, at: "object")
                return minifiedJSON(MergePatch.apply(patch, to: target))
            }
        }
    }

    private static func minifiedJSON(_ text: [UInt8]) -> [UInt8] {
        text.withUnsafeBufferPointer { JSONText.minifiedJSON($0) }
    }

    private static func minifiedJSON(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        JSONText.minifiedJSON(text)
    }

    // MARK: Archives

    /// What an archive's objects become is JSON, nested no deeper than its limit.
    private static func archive(_ bytes: [UInt8]) {
        var options = KeyedArchive.Options()
        options.limits.values = 100_000
        options.limits.objectValues = 10_000
        options.limits.depth = 20
        options.typeFields = ["Shop": "kind"]
        options.cutsReferences = true
        guard let archive = try? KeyedArchive(bytes, options: options) else { return }
        for key in archive.keys {
            guard let value = try? archive.value(forKey: key) else { continue }
            precondition(depth(value) <= options.limits.depth)
            precondition((try? JSONParser.reading(Array(value.text.utf8)) { _ in true }) == true)
        }
    }

    private static func depth(_ value: JSONValue) -> Int {
        switch value {
        case .array(let elements): 1 + (elements.map(depth).max() ?? 0)
        case .object(let members): 1 + (members.map { depth($0.value) }.max() ?? 0)
        default: 0
        }
    }

    // MARK: Tokens

    private static func tokens(_ bytes: [UInt8]) {
        guard let file = try? TokenFile(json: bytes) else { return }
        precondition((try? TokenFile(json: file.json)) == file)
    }
}
