import BackendContract
import HTTPTypes
import JSONText
import Objects
import Runtime
import ServiceDesk
import WebExchange

/// Objects: created, replaced, merged, read and deleted.
extension KiiCall {
    /// `…/objects`.
    func answerObjects(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        guard method == .post else { throw unsupported([.post]) }
        let type = try KiiMediaType(request.headers[.contentType])
            .dataType(in: settings.app, atMost: dataTypeBytes)
        let bucket = try bucket(place)
        let object = PutObject(id: nil, document: try await document(), dataType: type)
        let made = try await write(.put(bucket: bucket, object: object, condition: .none)).metadata
        var writer = JSONWriter()
        writer.raw("{\"objectID\":")
        writer.string(made.id.text)
        writer.key("createdAt")
        writer.integer(made.created)
        writer.key("dataType")
        writer.string(KiiMediaType.contentType(of: type, in: settings.app))
        writer.byte(UInt8(ascii: "}"))
        var answer = WebAnswer(
            Self.creationType, writer.bytes, version: Int(made.version), .created)
        answer.headers[.location] = request.base + place.path(of: made.id.text)
        return answer
    }

    /// The document that the body is.
    private func document() async throws(KiiFailure) -> WrittenDocument {
        try await inBody { () async throws(KiiFailure) in
            try await body { view, limits throws(ServiceFailure) in
                try WrittenDocument(view, at: Self.member, limits: limits)
            }
        }
    }

    /// Writes one object.
    private func write(_ write: Write) async throws(KiiFailure) -> WrittenObject {
        let written = try await inBody { () async throws(KiiFailure) in
            try await ask(.write(write))
        }
        guard let written else {
            throw KiiFailure(.undefined, "the service's answer cannot be read")
        }
        return written
    }

    /// Runs `body`; the paths of its failures begin in the request's own body.
    private func inBody<Value>(
        _ body: () async throws(KiiFailure) -> Value
    ) async throws(KiiFailure) -> Value {
        do throws(KiiFailure) {
            return try await body()
        } catch {
            throw error.inside(Self.member)
        }
    }

    /// The member of the line protocol's params that the body is.
    private static let member = "object"

    private static let creationType = "application/vnd.kii.ObjectCreationResponse+json"

    /// `…/objects/{id}`.
    func answerObject(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        switch method {
        case .get, .head: try await get(place)
        case .put: try await put(place)
        case .patch: try await patch(place)
        case .delete: try await delete(place)
        default: throw unsupported([.get, .head, .put, .patch, .delete])
        }
    }

    private func get(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        let (bucket, id) = try object(place)
        return try answer(with: await ask(.get(id, in: bucket)))
    }

    /// The answer with a whole object, as the service has written it.
    private func answer(with text: [UInt8]) throws(KiiFailure) -> WebAnswer {
        let (metadata, body) = try reading(own: text) { view in
            ObjectMetadata(view).map { ($0, KiiText.object(view)) }
        }
        return answer(metadata, body)
    }

    /// The answer with a whole object.
    private func answer(_ metadata: ObjectMetadata, _ body: [UInt8]) -> WebAnswer {
        let type = KiiMediaType.contentType(of: metadata.dataType, in: settings.app)
        var answer = WebAnswer(type, body, version: Int(metadata.version))
        answer.headers[.lastModified] = httpDate(metadata.modified / 1_000)
        return answer
    }

    private func put(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        let type = try KiiMediaType(request.headers[.contentType])
            .dataType(in: settings.app, atMost: dataTypeBytes)
        let (bucket, id) = try object(place)
        let object = PutObject(id: id, document: try await document(), dataType: type)
        let condition = try await condition(place)
        let stored = try await write(
            .put(bucket: bucket, object: object, condition: condition)
        ).metadata
        let isNew = stored.version == 1
        var writer = JSONWriter()
        writer.byte(UInt8(ascii: "{"))
        if isNew {
            writer.key("createdAt")
            writer.integer(stored.created)
        }
        writer.key("modifiedAt")
        writer.integer(stored.modified)
        writer.byte(UInt8(ascii: "}"))
        var answer = WebAnswer(
            isNew ? Self.creationType : "application/vnd.kii.ObjectUpdateResponse+json",
            writer.bytes, version: Int(stored.version), isNew ? .created : .ok)
        if isNew { answer.headers[.location] = request.base + place.path(of: stored.id.text) }
        return answer
    }

    /// Merges at every level, and stores nulls.
    private func patch(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        let (bucket, id) = try object(place)
        let patch = try await inBody { () async throws(KiiFailure) in
            try await body { view, _ throws(ServiceFailure) in
                try MergePatch.check(view, at: Self.member)
                return Array(view.text)
            }
        }
        let version: Int64?
        switch try await condition(place) {
        case .none: version = nil
        case .version(let number): version = number
        case .absent:
            throw KiiFailure(
                .invalidInputData, "only an object that exists can be merged into",
                at: "If-None-Match")
        }
        let merged = try await write(
            .patch(
                bucket: bucket, id: id, patch: patch, ifVersion: version, ifNewer: nil,
                expiry: .unchanged, options: [.storesNulls, .returnsObject]))
        return try answer(with: merged.object ?? [])
    }

    private func delete(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        let (bucket, id) = try object(place)
        // Only an object that exists is deleted, whatever If-None-Match says.
        var version: Int64?
        if case .version(let number) = try await condition(place) { version = number }
        _ = try await ask(.write(.delete(bucket: bucket, id: id, ifVersion: version)))
        return WebAnswer(.noContent)
    }

    /// The condition of a write.
    private func condition(_ place: KiiPlace) async throws(KiiFailure) -> WriteCondition {
        switch try KiiCondition(request.headers) {
        case .none: return .none
        case .absent: return .absent
        case .version(let number): return .version(Int64(number))
        case .otherVersion:
            // No object has that version, so all that is open is whether there is one.
            let (bucket, id) = try object(place)
            _ = try await ask(.get(id, in: bucket))
            throw KiiFailure(
                .versionIsStale, "the object has another version than that of If-Match")
        }
    }

}

/// The condition of a write: `If-Match`, bare or in quotes, and `If-None-Match: *`.
private enum KiiCondition: Equatable {
    case none
    case absent
    case version(Int)
    /// What is no version of any object.
    case otherVersion

    init(_ headers: HTTPFields) throws(KiiFailure) {
        switch (headers[.ifMatch], headers[.ifNoneMatch]) {
        case (nil, nil): self = .none
        case (let match?, nil):
            let text = match[...].trimmed
            let isQuoted = text.count >= 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
            let digits = isQuoted ? text.dropFirst().dropLast() : text[...]
            if let version = Int(digits), version > 0, digits.first != "+" {
                self = .version(version)
            } else {
                self = .otherVersion
            }
        case (nil, let none?):
            guard none[...].trimmed == "*" else {
                throw KiiFailure(.invalidInputData, "expected *", at: "If-None-Match")
            }
            self = .absent
        case (_?, _?):
            throw KiiFailure(
                .invalidInputData, "If-Match contradicts If-None-Match", at: "If-None-Match")
        }
    }
}
