import JSONText
import SyntheticData
import Workloads

/// GeoBucket's queries: JSON-RPC 2.0 lines.
struct GeoBucketPeer: Peer {
    let server: any Server

    var name: String { server.name }
    var title: String {
        name == GeoBucketServer.benchmarked ? "GeoBucket" : "GeoBucket, an earlier build"
    }

    func request(_ query: WorkloadQuery, for workload: Workload) -> [UInt8]? {
        Self.line(
            workload == .q7 ? "bucket.count" : "bucket.query",
            QueryDocument.members(query, for: workload))
    }

    /// Q1 with room for so many hits in its page.
    static func request(_ query: WorkloadQuery, limit: Int) -> [UInt8] {
        line(
            "bucket.query",
            QueryDocument.members(query, for: .q1) + #","bestEffortLimit":\#(limit)"#)
    }

    private static func line(_ method: String, _ members: String) -> [UInt8] {
        let params = #"{"bucket":"\#(GeoBucketServer.bucket)",\#(members)}"#
        return Array(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#.utf8)
            + [0x0A]
    }

    func move(_ object: Int, to position: MicroPoint) -> [UInt8]? {
        var writer = JSONWriter()
        writer.raw(#"{"jsonrpc":"2.0","id":1,"method":"object.patch","params":{"bucket":"#)
        writer.string(GeoBucketServer.bucket)
        writer.key("id")
        writer.string(Dataset.id(object))
        writer.raw(#","object":{"location":"#)
        Dataset.write(position, into: &writer)
        writer.raw("}}}\n")
        return writer.bytes
    }

    func hits(in answer: [UInt8], for workload: Workload) throws -> [Hit] {
        try JSONParser.reading(answer) { view in
            guard let result = view["result"] else { throw Failure("geobucket: no result") }
            if let count = result["count"]?.number?.exactInt {
                return Array(repeating: .counted, count: count)
            }
            if let groups = result["aggregations"]?["categories"]?["values"] {
                return groups.elements.flatMap { group in
                    Hit.counted(
                        group["count"]?.number?.exactInt ?? 0,
                        inCategory: group["value"]?.string)
                }
            }
            guard let objects = result["results"] else { throw Failure("geobucket: no results") }
            return objects.elements.map { object in
                Hit(
                    object: object["_id"]?.string.flatMap { Dataset.object($0) } ?? -1,
                    distance: object["_calculated"]?["d"]?.number?.double)
            }
        }
    }
}
