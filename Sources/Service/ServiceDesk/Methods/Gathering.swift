import BackendContract
import JSONText
import Objects

/// How the answers of all nodes make one answer.
public enum Gathering: Sendable {
    /// Each node's answer to a method without params stands for itself.
    case each(MethodName)
    /// The lists of buckets are merged.
    case buckets(in: BucketScope, after: BucketName?)

    /// The request that every node is sent.
    public var request: [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":")
        switch self {
        case .each(let method): writer.string("\(method.text)")
        case .buckets(let scope, let last):
            writer.string("\(MethodName.listBuckets.text)")
            writer.raw(",\"params\":{")
            if scope != .application {
                writer.string("scope")
                writer.byte(UInt8(ascii: ":"))
                writer.string(scope.text)
            }
            if let last {
                if scope != .application { writer.byte(UInt8(ascii: ",")) }
                writer.string("paginationKey")
                writer.byte(UInt8(ascii: ":"))
                writer.string(last.text)
            }
            writer.byte(UInt8(ascii: "}"))
        }
        writer.byte(UInt8(ascii: "}"))
        return writer.bytes
    }

    /// Appends the result that the answers make.
    ///
    /// - Parameters:
    ///   - answers: each node's answer, as it would be sent to a client; nil if there was none.
    ///   - maximumBytes: the most that a list may occupy.
    /// - Throws: the failure of a node without whose answer there is no result.
    public func write(
        _ answers: [(node: ClusterNode, answer: [UInt8]?)], maximumBytes: Int,
        to writer: inout JSONWriter
    ) throws(RPCFailure) {
        switch self {
        case .each: Self.writeEach(answers, to: &writer)
        case .buckets:
            try BucketLists(answers).write(maximumBytes: maximumBytes, to: &writer)
        }
    }

    /// Whether nothing is missing: a node's answer, or a bucket that no node holds for now.
    ///
    /// It may take as long as the store takes to answer.
    ///
    /// - Parameter reach: whether the caller may read a bucket.
    public func isWhole(
        _ answers: [(node: ClusterNode, answer: [UInt8]?)],
        _ placement: any BucketPlacement, within reach: (BucketName) -> Bool
    ) -> Bool {
        guard case .buckets(let scope, let last) = self else { return true }
        guard let lists = try? BucketLists(answers), let names = try? placement.names(in: scope)
        else { return false }
        return names.allSatisfy { name in
            last.map { name <= $0 } ?? false || !reach(name) || lists.covers(name)
        }
    }

    private static func writeEach(
        _ answers: [(node: ClusterNode, answer: [UInt8]?)], to writer: inout JSONWriter
    ) {
        writer.raw("{\"nodes\":[")
        writer.list(answers) { answer, writer in
            writer.raw("{\"address\":")
            writer.string(answer.node.clientAddress)
            writer.key("id")
            writer.string(answer.node.id)
            let parts = answer.answer.flatMap(Self.parts)
            writer.key(parts?.isResult == true ? "result" : "error")
            writer.raw(parts?.text ?? Array(#"{"message":"the node does not answer"}"#.utf8))
            writer.byte(UInt8(ascii: "}"))
        }
        writer.raw("]}")
    }

    /// The result or the error in an answer, as it was written.
    private static func parts(of answer: [UInt8]) -> (isResult: Bool, text: [UInt8])? {
        try? JSONParser.reading(answer) { view in
            if let result = view["result"] { return (true, Array(result.text)) }
            return view["error"].map { (false, Array($0.text)) }
        }
    }
}

/// Lists of buckets from several nodes, each in the order of names. A bucket may be in several.
private struct BucketLists {
    private var entries: [BucketName: [UInt8]] = [:]
    /// Up to here every list is complete; nil if all are to their ends.
    private var end: BucketName?

    init(_ answers: [(node: ClusterNode, answer: [UInt8]?)]) throws(RPCFailure) {
        for (node, answer) in answers {
            guard let answer else {
                throw RPCFailure(
                    ServiceFailure(
                        .temporarilyUnavailable,
                        "the node \(node.clientAddress) does not answer; the list would not be whole"
                    ))
            }
            try add(answer)
        }
    }

    private mutating func add(_ answer: [UInt8]) throws(RPCFailure) {
        let parser = JSONParser()
        guard let view = try? parser.parse(answer) else { return }
        defer { withExtendedLifetime(parser) {} }
        if let error = view["error"] {
            throw RPCFailure(error) ?? .invalidRequest("a node's answer cannot be read")
        }
        guard let result = view["result"], let list = result["buckets"] else { return }
        for entry in list.elements {
            guard let name = entry["bucket"]?.string else { continue }
            entries[BucketName(trusted: name)] = Array(entry.text)
        }
        if let key = result["nextPaginationKey"]?.string {
            let last = BucketName(trusted: key)
            end = end.map { min($0, last) } ?? last
        }
    }

    /// Whether a bucket is listed, or is to be on a later page.
    func covers(_ name: BucketName) -> Bool {
        entries[name] != nil || end.map { $0 < name } ?? false
    }

    func write(maximumBytes: Int, to writer: inout JSONWriter) {
        let names = entries.keys.filter { name in end.map { name <= $0 } ?? true }.sorted()
        writer.raw("{\"buckets\":[")
        let start = writer.count
        var next = end
        var previous: BucketName?
        for name in names {
            let entry = entries[name]!
            let size = writer.count - start + entry.count + 1 + ReadEnd.keyMemberBytes(name.text)
            if let previous, size > maximumBytes {
                next = previous
                break
            }
            if previous != nil { writer.byte(UInt8(ascii: ",")) }
            writer.raw(entry)
            previous = name
        }
        writer.byte(UInt8(ascii: "]"))
        if let next {
            writer.key("nextPaginationKey")
            writer.string(next.text)
        }
        writer.byte(UInt8(ascii: "}"))
    }
}
