import BackendContract
import JSONText
import Objects
import ServiceDesk
import TestSupport
import Testing

/// The answers of several nodes as one.
@Suite struct GatheringTests {
    private typealias Answers = [(node: ClusterNode, answer: [UInt8]?)]

    private static func node(_ number: Int) -> ClusterNode {
        ClusterNode(
            id: "n\(number)", clientAddress: "db\(number):4362", nodeAddress: "db\(number):4362",
            isSelf: number == 0)
    }

    private static func answers(_ texts: [String?]) -> Answers {
        texts.enumerated().map { (node($0), $1.map { Array($0.utf8) }) }
    }

    private static func merged(
        _ gathering: Gathering, _ answers: Answers, maximumBytes: Int = .max
    ) throws -> [UInt8] {
        var writer = JSONWriter()
        try gathering.write(answers, maximumBytes: maximumBytes, to: &writer)
        return writer.bytes
    }

    // MARK: Requests

    @Test(arguments: [
        (BucketScope.application, nil), (.application, "shops"), (scope("users/alice"), nil),
        (scope("groups/drivers"), "groups/drivers/tours"),
    ])
    func `Nodes are asked for the page of buckets that was asked for`(
        _ scope: BucketScope, _ last: String?
    ) throws {
        let gathering = Gathering.buckets(in: scope, after: last.map(BucketName.init(trusted:)))
        let parser = RequestParser(limits: Limits())
        let text = gathering.request
        try withExtendedLifetime(parser) {
            let request = text.withUnsafeBufferPointer { parser.parse(element: $0) }
            let call = try Method[.listBuckets].call(request, Limits())
            guard case .read(let read, let change) = call,
                case .buckets(let asked, let after) = read.gathering
            else { throw NotAsked() }
            #expect(try request.method.get() == .listBuckets)
            #expect(asked == scope && after?.text == last && change == nil)
        }
    }

    private struct NotAsked: Error {}

    private static func scope(_ text: String) -> BucketScope {
        BucketName(trusted: text + "/bb").scope
    }

    // MARK: Each for itself

    @Test func `What each node says stands beside its address, and so does a silence`() throws {
        let said = [
            #"{"jsonrpc":"2.0","id":0,"result":{"objects":1.0, "é":[]}}"#,
            #"{"jsonrpc":"2.0","id":0,"error":{"code":1403,"message":"no"}}"#, nil, "{",
        ]
        let text = try Self.merged(.each(.statistics), Self.answers(said))
        let silence = #"{"message":"the node does not answer"}"#
        #expect(
            String(decoding: text, as: UTF8.self)
                == #"{"nodes":[{"address":"db0:4362","id":"n0","result":{"objects":1.0, "é":[]}},"#
                + #"{"address":"db1:4362","id":"n1","error":{"code":1403,"message":"no"}},"#
                + #"{"address":"db2:4362","id":"n2","error":\#(silence)},"#
                + #"{"address":"db3:4362","id":"n3","error":\#(silence)}]}"#)
        #expect(Gathering.each(.check).isWhole([], Names(all: nil)) { _ in true })
    }

    // MARK: Lists

    /// What `bucket.list` of a node answers that has some buckets, and pages of a size.
    private static func answer(
        _ held: [String], atMost size: Int, after last: String?
    ) -> String {
        let rest = held.sorted().filter { name in last.map { $0 < name } ?? true }
        let page = rest.prefix(size)
        let entries = page.map { #"{"bucket":"\#($0)","objects":1,"geoFields":[]}"# }
        let key = rest.count > size ? #","nextPaginationKey":"\#(page.last!)""# : ""
        return #"{"jsonrpc":"2.0","id":0,"result":{"buckets":[\#(entries.joined(separator: ","))]"#
            + key + "}}"
    }

    @Test(arguments: Seeds.first(60))
    func `Page by page every bucket of any node comes once, by name, within the bytes`(
        _ seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let all = (0..<random.below(40)).map { "b\(100 + $0 * 7 % 60)" }
        let held = (0..<1 + random.below(4)).map { _ in
            Array(Set(all.filter { _ in random.oneIn(2) }))
        }
        let sizes = held.map { _ in 1 + random.below(random.pick([2, 50])) }
        let maximumBytes = random.pick([1, 60, 130, 500, .max])
        var (found, last, pages) = ([String](), String?.none, 0)
        repeat {
            let answers = Self.answers(
                zip(held, sizes).map { Self.answer($0, atMost: $1, after: last) })
            let text = try Self.merged(
                .buckets(in: .application, after: nil), answers, maximumBytes: maximumBytes)
            let page = try JSONValue(parsing: text)
            let names = (page["buckets"]?.array ?? []).compactMap { $0["bucket"]?.string }
            let room = text.count - #"{"buckets":[]}"#.utf8.count
            #expect(names.count <= 1 || room <= maximumBytes, "seed \(seed)")
            last = page["nextPaginationKey"]?.string
            if last != nil { #expect(names.last == last, "seed \(seed)") }
            found += names
            pages += 1
        } while last != nil && pages < 100
        #expect(found == Set(held.joined()).sorted(), "seed \(seed)")
    }

    @Test func `A list of which a node's part is missing is none`() throws {
        let list = Gathering.buckets(in: .application, after: nil)
        let part = Self.answer(["b1", "b2"], atMost: 9, after: nil)
        for (second, code) in [
            (nil, "TEMPORARY_UNAVAILABLE_ERROR"),
            (
                #"{"jsonrpc":"2.0","id":0,"error":{"code":1429,"message":"m","data":{"errorCode":"TOO_MANY_REQUESTS"}}}"#,
                "TOO_MANY_REQUESTS"
            ),
            (#"{"jsonrpc":"2.0","id":0,"error":7}"#, "INVALID_REQUEST"),
        ] as [(String?, String)] {
            let answers = Self.answers([part, second])
            #expect {
                _ = try Self.merged(list, answers)
            } throws: {
                ($0 as? RPCFailure)?.errorCode == code
            }
            #expect(!list.isWhole(answers, Names(all: ["b1", "b2"])) { _ in true })
        }
    }

    /// A cluster of which only the names of its buckets are known.
    private struct Names: BucketPlacement {
        let all: [String]?
        let copies = 1
        let nodes: [ClusterNode] = []

        func nodes(for bucket: BucketName) -> [ClusterNode] { [] }

        func isHeld(_ bucket: BucketName) -> Bool { false }

        func names(in scope: BucketScope) throws(ServiceFailure) -> [BucketName] {
            guard let all else { throw ServiceFailure(.temporarilyUnavailable, "no store") }
            return all.map(BucketName.init(trusted:)).filter { $0.scope == scope }
        }

        func pin(_ bucket: BucketName) {}

        func unpin(_ bucket: BucketName) {}

        func withdraw() {}

        func obstacle(to bucket: BucketName) -> String? { nil }
    }

    @Test func `A list is whole if it has each bucket that the caller reaches, now or later on`()
        throws
    {
        let bound: @Sendable (BucketName) -> Bool = { ["b1", "b3"].contains($0.text) }
        let anyone: @Sendable (BucketName) -> Bool = { _ in true }
        for (names, size, last, reach, isWhole) in [
            (["b1", "b3"], 9, nil, anyone, true), (["b1", "b3", "b4"], 9, nil, anyone, false),
            // What comes behind the page is asked for with the next one.
            (["b1", "b3", "b4"], 1, nil, anyone, true), (["b0", "b1"], 1, nil, anyone, false),
            (["b0", "b1", "b3"], 9, "b0", anyone, true),
            (["b0", "b1", "b3"], 9, nil, anyone, false),
            (["b0", "b1", "b3"], 9, nil, bound, true), (nil, 9, nil, anyone, false),
            (["b1", "users/al/b9"], 9, nil, anyone, true),
        ] as [([String]?, Int, String?, @Sendable (BucketName) -> Bool, Bool)] {
            let list = Gathering.buckets(
                in: .application, after: last.map(BucketName.init(trusted:)))
            let answers = Self.answers([
                Self.answer(["b1"], atMost: size, after: last),
                Self.answer(["b1", "b3"], atMost: size, after: last),
            ])
            #expect(
                list.isWhole(answers, Names(all: names), within: reach) == isWhole,
                "\(names ?? []) \(size) \(last ?? "-")")
        }
    }
}
