import BackendContract
import GeoBucketClient
import JSONText
import Objects
import QueryLanguage
import TestSupport

/// How the contract's tests reach what they test: the methods of the protocol, JSON in and out.
protocol ContractClient: Sendable {
    /// - Returns: the result's JSON text.
    /// - Throws: `Refusal`.
    func call(_ method: String, _ params: String) async throws -> [UInt8]
}

/// An error of the service.
struct Refusal: Error, Equatable {
    var errorCode: String
    var path: String?
}

extension ContractClient {
    @discardableResult
    func value(_ method: String, _ params: String) async throws -> JSONValue {
        try JSONValue(parsing: try await call(method, params))
    }

    func refusal(_ method: String, _ params: String) async throws -> Refusal? {
        do {
            _ = try await call(method, params)
            return nil
        } catch let refusal as Refusal {
            return refusal
        }
    }
}

/// Through TCP.
struct RemoteClient: ContractClient {
    let connection: LineConnection

    func call(_ method: String, _ params: String) async throws -> [UInt8] {
        do {
            return try await connection.call(method, Array(params.utf8))
        } catch ClientFailure.refused(let failure) {
            throw Refusal(errorCode: failure.errorCode, path: failure.path)
        }
    }
}

/// On a backend itself, without wire or service.
struct DirectClient: ContractClient {
    let backend: any TestedBackend
    let limits: Limits
    /// Whether what a query makes the engine build is there for the next one.
    var settles = false

    func call(_ method: String, _ params: String) async throws -> [UInt8] {
        do {
            if let write = try JSONParser.reading(Array(params.utf8), { try write(method, $0) }) {
                return try await submit(write)
            }
            return try JSONParser.reading(Array(params.utf8)) { try read(method, $0) }
        } catch let failure as ServiceFailure {
            throw Refusal(errorCode: failure.reason.rawValue, path: failure.path)
        }
    }

    private func write(_ method: String, _ params: JSONView) throws -> Write? {
        let bucket = try BucketName(params["bucket"]!.string!)
        func id() throws -> ObjectID { try ObjectID(params["id"]!.string!, at: "id") }
        func put(_ view: JSONView, _ id: ObjectID?) throws -> PutObject {
            PutObject(id: id, document: try WrittenDocument(view, at: "object", limits: limits))
        }
        switch method {
        case "object.put":
            return .put(
                bucket: bucket, object: try put(params["object"]!, try id()), condition: .none)
        case "object.putMany":
            return .putMany(
                bucket: bucket,
                objects: try params["objects"]!.elements.map { view in
                    try put(view, try view["_id"].map { try ObjectID($0.string!, at: "_id") })
                })
        case "object.patch":
            return .patch(
                bucket: bucket, id: try id(), patch: Array(params["object"]!.text), ifVersion: nil,
                ifNewer: nil, expiry: .unchanged)
        case "object.delete": return .delete(bucket: bucket, id: try id(), ifVersion: nil)
        case "bucket.delete": return .deleteBucket(bucket)
        case "bucket.deleteWhere":
            return .deleteWhere(bucket: bucket, clause: try query(params).clause)
        default: return nil
        }
    }

    private func submit(_ write: Write) async throws -> [UInt8] {
        let answer = try await withCheckedThrowingContinuation { continuation in
            backend.submit(write) { continuation.resume(with: $0) }
        }
        switch answer {
        case .stored(let objects):
            let list = objects.map(\.metadata).map {
                #"{"_id":"\#($0.id.text)","_version":\#($0.version)}"#
            }
            return Array(#"{"objects":[\#(list.joined(separator: ","))]}"#.utf8)
        case .deleted(let count): return Array(#"{"deleted":\#(count)}"#.utf8)
        }
    }

    private func read(_ method: String, _ params: JSONView) throws -> [UInt8] {
        let bucket = try BucketName(params["bucket"]!.string!)
        var writer = JSONWriter()
        switch method {
        case "object.get":
            try backend.get(
                try ObjectID(params["id"]!.string!, at: "id"), in: bucket, into: &writer)
        case "bucket.count":
            writer.raw("{\"count\":")
            writer.integer(try backend.count(try query(params).clause, in: bucket))
            writer.byte(UInt8(ascii: "}"))
        case "bucket.clusters":
            var reader = MemberReader(params: params)
            let query = try QueryParser(limits: limits).clusterQuery(from: &reader)
            _ = try backend.awaited(.clusters(query, in: bucket)).run(into: &writer)
        case "bucket.fields": _ = try backend.awaited(.fields(in: bucket)).run(into: &writer)
        case "bucket.explain":
            let query = try query(params)
            let read = try backend.awaited(.explanation(query, in: bucket, analyze: true))
            _ = try read.run(into: &writer)
        case "bucket.query":
            let query = try query(params)
            if query.aggregations.isEmpty {
                try page(bucket, query, into: &writer)
            } else {
                try aggregate(bucket, query, into: &writer)
            }
            if settles { backend.settle() }
        default: preconditionFailure("no method \(method) here")
        }
        return writer.bytes
    }

    private func page(
        _ bucket: BucketName, _ query: Query, into writer: inout JSONWriter
    ) throws {
        let read = try backend.awaited(.page(query, in: bucket))
        writer.raw("{\"results\":[")
        let end = try read.run(maximumBytes: limits.replyBytes, until: nil, into: &writer)
        writer.byte(UInt8(ascii: "]"))
        if let key = end.nextPaginationKey {
            writer.raw(",\"nextPaginationKey\":")
            writer.string(key)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private func aggregate(
        _ bucket: BucketName, _ query: Query, into writer: inout JSONWriter
    ) throws {
        writer.raw("{\"results\":[],\"aggregations\":")
        let read = try backend.awaited(.aggregation(query, in: bucket))
        _ = try read.run(maximumBytes: limits.replyBytes, until: nil, into: &writer)
        writer.byte(UInt8(ascii: "}"))
    }

    private func query(_ params: JSONView) throws -> Query {
        var reader = MemberReader(params: params)
        return try QueryParser(limits: limits).query(from: &reader)
    }
}
