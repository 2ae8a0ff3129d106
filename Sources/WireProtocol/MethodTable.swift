import JSONText
import Objects
import QueryLanguage

/// Reads the params of each method.
struct MethodTable {
    let limits: Limits

    /// - Parameter params: a JSON object, or nil for the empty one.
    /// - Returns: the call, and of a write the name that its client has given it.
    /// - Throws: what is wrong with the params, with the path of the member.
    func call(
        _ method: MethodName, _ params: JSONView?
    ) throws(ServiceFailure) -> (MethodCall, RequestKey?) {
        var reader = MemberReader(params: params)
        let call = try read(method, &reader)
        let key = method.isWrite ? try requestKey(method, params, &reader) : nil
        try reader.finish(as: "\(method.text)")
        return (call, key)
    }

    private func requestKey(
        _ method: MethodName, _ params: JSONView?, _ reader: inout MemberReader
    ) throws(ServiceFailure) -> RequestKey? {
        guard let text = try reader.optionalString("requestKey"), let params else { return nil }
        guard (1...limits.requestKeyBytes).contains(text.utf8.count) else {
            throw reader.failure("requestKey", "expected 1 to \(limits.requestKeyBytes) bytes")
        }
        return RequestKey(
            text: text, request: Array("\(method.text) ".utf8) + minifiedJSON(params.text))
    }

    private func read(
        _ method: MethodName, _ params: inout MemberReader
    ) throws(ServiceFailure) -> MethodCall {
        switch method {
        case .info: return .info
        case .ping: return .ping
        case .statistics: return .statistics
        case .login: return .login(token: try token(&params))
        case .listBuckets: return try listBuckets(&params)
        case .count: return .count(try bucket(&params), try clause(&params))
        case .query: return .query(try bucket(&params), try query(&params))
        case .explain:
            let bucket = try bucket(&params)
            let query = try query(&params)
            let analyze = try params.optionalBool("analyze") ?? false
            return .explain(bucket, query, analyze: analyze)
        case .export:
            let bucket = try bucket(&params)
            return .export(bucket, continues: try params.optionalBool("continue") ?? false)
        case .deleteBucket: return .deleteBucket(try bucket(&params))
        case .deleteWhere:
            let bucket = try bucket(&params)
            _ = try params.required("bucketQuery", "a query")
            return .deleteWhere(bucket, try clause(&params))
        case .create: return try create(&params)
        case .put: return try put(&params)
        case .patch: return try patch(&params)
        case .get: return .get(try bucket(&params), try id(&params))
        case .delete:
            let (bucket, id) = (try bucket(&params), try id(&params))
            return .delete(bucket, id, ifVersion: try version(&params))
        case .putMany: return try putMany(&params)
        case .check: return .check
        case .backup: return .backup(continues: try params.optionalBool("continue") ?? false)
        }
    }

    private func token(_ params: inout MemberReader) throws(ServiceFailure) -> String {
        let token = try params.string("token")
        guard token.utf8.count <= limits.tokenBytes else {
            throw params.failure("token", "expected at most \(limits.tokenBytes) bytes")
        }
        return token
    }

    private func listBuckets(_ params: inout MemberReader) throws(ServiceFailure) -> MethodCall {
        var scope = BucketScope.application
        if let text = try params.optionalString("scope") {
            scope = try BucketScope(text, at: "scope")
        }
        // The key of a page is the last bucket before it.
        guard let key = try params.optionalString("paginationKey") else {
            return .listBuckets(scope, after: nil)
        }
        guard let last = try? BucketName(key), last.scope == scope else {
            throw params.failure("paginationKey", "it is no key of a page of these buckets")
        }
        return .listBuckets(scope, after: last)
    }

    private func create(_ params: inout MemberReader) throws(ServiceFailure) -> MethodCall {
        let bucket = try bucket(&params)
        let document = try document(&params)
        let dataType = try params.optionalString("dataType")
        if let dataType, !(1...limits.dataTypeBytes).contains(dataType.utf8.count) {
            throw params.failure("dataType", "expected 1 to \(limits.dataTypeBytes) bytes")
        }
        return .create(bucket, document, dataType: dataType, try expiry(&params))
    }

    private func put(_ params: inout MemberReader) throws(ServiceFailure) -> MethodCall {
        let (bucket, id) = (try bucket(&params), try id(&params))
        let document = try document(&params)
        let version = try version(&params)
        let ifAbsent = try params.optionalBool("ifAbsent") ?? false
        if ifAbsent, version != nil {
            throw params.failure("ifAbsent", "it contradicts \"ifVersion\"")
        }
        let condition = ifAbsent ? .absent : version.map(WriteCondition.version) ?? .none
        return .put(bucket, id, document, condition, try expiry(&params))
    }

    private func patch(_ params: inout MemberReader) throws(ServiceFailure) -> MethodCall {
        let (bucket, id) = (try bucket(&params), try id(&params))
        let patch = try params.required("object", "a JSON object")
        try MergePatch.check(patch, at: "object")
        return .patch(
            bucket, id, Array(patch.text), ifVersion: try version(&params), try expiry(&params))
    }

    private func putMany(_ params: inout MemberReader) throws(ServiceFailure) -> MethodCall {
        let bucket = try bucket(&params)
        let array = try params.array("objects", "an array of objects")
        guard array.count <= limits.putManyObjects else {
            throw params.failure(
                "objects", "expected at most \(limits.putManyObjects) objects, not \(array.count)")
        }
        var objects: [(id: ObjectID?, document: WrittenDocument)] = []
        objects.reserveCapacity(array.count)
        var ids: Set<ObjectID> = []
        for (index, element) in zip(0..., array.elements) {
            let path = "objects[\(index)]"
            let document = try WrittenDocument(element, at: path, limits: limits)
            var id: ObjectID?
            if let value = element["_id"] {
                id = try Self.id(value, at: "\(path)._id")
                guard ids.insert(id!).inserted else {
                    throw ServiceFailure(
                        .invalidInputData, "the id \"\(id!.text)\" stands here twice",
                        at: "\(path)._id")
                }
            }
            objects.append((id, document))
        }
        return .putMany(bucket, objects, try expiry(&params))
    }

    private func bucket(_ params: inout MemberReader) throws(ServiceFailure) -> BucketName {
        try BucketName(try params.string("bucket"))
    }

    private func id(_ params: inout MemberReader) throws(ServiceFailure) -> ObjectID {
        try Self.id(try params.required("id", "an object id"), at: "id")
    }

    private static func id(_ value: JSONView, at path: String) throws(ServiceFailure) -> ObjectID {
        guard let text = value.string else {
            throw ServiceFailure(.invalidObjectID, "expected a string", at: path)
        }
        return try ObjectID(text, at: path)
    }

    private func document(_ params: inout MemberReader) throws(ServiceFailure) -> WrittenDocument {
        try WrittenDocument(
            try params.required("object", "a JSON object"), at: "object", limits: limits)
    }

    private func version(_ params: inout MemberReader) throws(ServiceFailure) -> Int64? {
        try params.optionalInt("ifVersion", in: 1...Int.max).map(Int64.init)
    }

    private func expiry(_ params: inout MemberReader) throws(ServiceFailure) -> Expiry {
        guard let value = params.optional("expiresAt") else { return .unchanged }
        if value.kind == .null { return .never }
        guard let time = value.number?.exactInt, (0...Self.latestTime).contains(time) else {
            throw params.failure(
                "expiresAt",
                "expected whole milliseconds since 1970, 0 to \(Self.latestTime), or null")
        }
        return .at(Int64(time))
    }

    /// 2^53 - 1: up to there every client's numbers are exact.
    private static let latestTime = 9_007_199_254_740_991

    private func query(_ params: inout MemberReader) throws(ServiceFailure) -> Query {
        try QueryParser(limits: limits).query(from: &params)
    }

    private func clause(_ params: inout MemberReader) throws(ServiceFailure) -> Clause {
        try QueryParser(limits: limits).clause(from: &params)
    }
}
