import BackendContract
import JSONText
import Objects
import QueryLanguage

/// Reads the writes from the params of their methods.
extension Write {
    static func create(_ params: inout Params) throws(ServiceFailure) -> Write {
        let bucket = try params.bucket()
        let document = try params.document()
        let object = PutObject(
            id: nil, document: document, dataType: try params.dataType(),
            expires: try params.expiry().applied(to: nil))
        return .put(bucket: bucket, object: object, condition: .none)
    }

    static func put(_ params: inout Params) throws(ServiceFailure) -> Write {
        let (bucket, id) = (try params.bucket(), try params.id())
        let document = try params.document()
        let version = try params.version()
        let ifAbsent = try params.bool("ifAbsent")
        if ifAbsent, version != nil {
            throw params.failure("ifAbsent", "it contradicts \"ifVersion\"")
        }
        let object = PutObject(
            id: id, document: document, dataType: try params.dataType(),
            expires: try params.expiry().applied(to: nil), ifNewer: try params.ifNewer())
        return .put(
            bucket: bucket, object: object,
            condition: ifAbsent ? .absent : version.map(WriteCondition.version) ?? .none)
    }

    static func patch(_ params: inout Params) throws(ServiceFailure) -> Write {
        let (bucket, id) = (try params.bucket(), try params.id())
        let patch = try params.required("object", "a JSON object")
        try MergePatch.check(patch, at: "object")
        return .patch(
            bucket: bucket, id: id, patch: Array(patch.text), ifVersion: try params.version(),
            ifNewer: try params.ifNewer(), expiry: try params.expiry(),
            options: try params.patchOptions())
    }

    static func putMany(_ params: inout Params) throws(ServiceFailure) -> Write {
        let bucket = try params.bucket()
        let array = try params.array("objects", "an array of objects")
        let most = params.limits.putManyObjects
        guard array.count <= most else {
            throw params.failure(
                "objects", "expected at most \(most) objects, not \(array.count)")
        }
        var objects: [PutObject] = []
        objects.reserveCapacity(array.count)
        var ids: Set<ObjectID> = []
        let restores = try params.bool("withMetadata")
        for (index, element) in zip(0..., array.elements) {
            let path = "objects[\(index)]"
            let document = try WrittenDocument(element, at: path, limits: params.limits)
            var id: ObjectID?
            if let value = element["_id"] {
                id = try Params.id(value, at: "\(path)._id")
                guard ids.insert(id!).inserted else {
                    throw ServiceFailure(
                        .invalidInputData, "the id \"\(id!.text)\" stands here twice",
                        at: "\(path)._id")
                }
            }
            objects.append(PutObject(id: id, document: document))
            if restores { try objects[index].restore(from: element, at: path, params.limits) }
        }
        let (expires, ifNewer) = (try params.expiry().applied(to: nil), try params.ifNewer())
        if restores, expires != nil || ifNewer != nil {
            throw params.failure(
                "withMetadata", "it contradicts \"\(expires == nil ? "ifNewer" : "expiresAt")\"")
        }
        if expires != nil || ifNewer != nil {
            for position in objects.indices {
                (objects[position].expires, objects[position].ifNewer) = (expires, ifNewer)
            }
        }
        return .putMany(bucket: bucket, objects: objects)
    }

    static func delete(_ params: inout Params) throws(ServiceFailure) -> Write {
        let (bucket, id) = (try params.bucket(), try params.id())
        return .delete(bucket: bucket, id: id, ifVersion: try params.version())
    }

    static func deleteBucket(_ params: inout Params) throws(ServiceFailure) -> Write {
        .deleteBucket(try params.bucket())
    }

    static func deleteWhere(_ params: inout Params) throws(ServiceFailure) -> Write {
        let bucket = try params.bucket()
        _ = try params.required("bucketQuery", "a query")
        return .deleteWhere(bucket: bucket, clause: try params.clause())
    }
}

// MARK: Back again

extension Write {
    /// Appends the members after `bucket`, each with a comma before it, of a write to one object or the
    /// end of a bucket.
    func writeParams(to writer: inout JSONWriter) {
        switch self {
        case .put(_, let object, let condition):
            if let id = object.id { writer.member("id", id.text) }
            writer.key("object")
            writer.raw(object.document.text)
            if let type = object.dataType { writer.member("dataType", type) }
            switch condition {
            case .none: break
            case .absent: writer.raw(",\"ifAbsent\":true")
            case .version(let version): writer.version(version)
            }
        case .patch(_, let id, let patch, let version, _, _, let options):
            writer.member("id", id.text)
            writer.key("object")
            writer.raw(patch)
            if options.contains(.storesNulls) { writer.raw(",\"storeNulls\":true") }
            if options.contains(.returnsObject) { writer.raw(",\"returnObject\":true") }
            if let version { writer.version(version) }
        case .delete(_, let id, let version):
            writer.member("id", id.text)
            if let version { writer.version(version) }
        case .deleteBucket: break
        case .putMany, .deleteWhere: preconditionFailure("no door makes it of values")
        }
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    fileprivate mutating func version(_ version: Int64) {
        key("ifVersion")
        integer(version)
    }
}
