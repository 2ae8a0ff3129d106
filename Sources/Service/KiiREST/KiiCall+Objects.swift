import HTTPTypes
import JSONText
import Objects
import Runtime
import WebExchange

/// Objects: created, replaced, merged, read and deleted.
extension KiiCall {
    /// `…/objects`.
    func answerObjects(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        guard method == .post else { throw unsupported([.post]) }
        let type = try KiiMediaType(request.headers[.contentType])
            .dataType(in: settings.app, atMost: dataTypeBytes)
        let object = try body()
        let result = try await call(.create, place, body: "object") { writer in
            writer.key("object")
            writer.raw(object)
            write(type, to: &writer)
        }
        let made = try reading(result, ObjectMetadata.init)
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

    private func write(_ dataType: String?, to writer: inout JSONWriter) {
        guard let dataType else { return }
        writer.key("dataType")
        writer.string(dataType)
    }

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
        let text = try await call(.get, place)
        let (metadata, body) = try reading(text) { view in
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
        let object = try body()
        let condition = try KiiCondition(request.headers)
        let result = try await conditional(condition, place) { version throws(KiiFailure) in
            try await call(.put, place, body: "object") { writer in
                writer.key("object")
                writer.raw(object)
                write(type, to: &writer)
                if condition == .absent { writer.raw(",\"ifAbsent\":true") }
                version.write(to: &writer)
            }
        }
        let stored = try reading(result, ObjectMetadata.init)
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
        let object = try body()
        let condition = try KiiCondition(request.headers)
        guard condition != .absent else {
            throw KiiFailure(
                .invalidInputData, "only an object that exists can be merged into",
                at: "If-None-Match")
        }
        let result = try await conditional(condition, place) { version throws(KiiFailure) in
            try await call(.patch, place, body: "object") { writer in
                writer.key("object")
                writer.raw(object)
                writer.raw(",\"storeNulls\":true,\"returnObject\":true")
                version.write(to: &writer)
            }
        }
        let (metadata, merged) = try reading(result) { view in
            view["object"].flatMap { object in
                ObjectMetadata(object).map { ($0, KiiText.object(object)) }
            }
        }
        return answer(metadata, merged)
    }

    private func delete(_ place: KiiPlace) async throws(KiiFailure) -> WebAnswer {
        _ = try await conditional(try KiiCondition(request.headers), place) {
            version throws(KiiFailure) in
            try await call(.delete, place) { version.write(to: &$0) }
        }
        return WebAnswer(.noContent)
    }

    /// Carries out a write on condition.
    private func conditional(
        _ condition: KiiCondition, _ place: KiiPlace,
        _ write: (_ version: ExpectedVersion) async throws(KiiFailure) -> [UInt8]
    ) async throws(KiiFailure) -> [UInt8] {
        switch condition {
        case .none, .absent: return try await write(ExpectedVersion(number: nil))
        case .version(let number): return try await write(ExpectedVersion(number: number))
        case .otherVersion:
            // No object has that version, so all that is open is whether there is one.
            _ = try await call(.get, place)
            throw KiiFailure(
                .versionIsStale, "the object has another version than that of If-Match")
        }
    }
}

/// The version that a write is for; none if it is for any.
private struct ExpectedVersion {
    let number: Int?

    func write(to writer: inout JSONWriter) {
        guard let number else { return }
        writer.key("ifVersion")
        writer.integer(number)
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
