import Digests
import HTTPTypes
import JSONText
import Objects
import ServiceDesk
import WebExchange
import Wire

/// One request, with who sends it and what carries it out.
struct KiiCall: Sendable {
    let request: WebRequest
    let caller: Caller
    let settings: KiiSettings
    private let operations: any WebOperations

    init(
        request: WebRequest, caller: Caller, _ operations: any WebOperations,
        _ settings: KiiSettings
    ) {
        (self.request, self.caller) = (request, caller)
        (self.operations, self.settings) = (operations, settings)
    }

    /// The bytes that a data type may have.
    var dataTypeBytes: Int { operations.limits.dataTypeBytes }

    /// The method; PATCH for a POST whose `X-HTTP-Method-Override` says so.
    var method: HTTPRequest.Method {
        let name = request.headers[HTTPField.Name("X-HTTP-Method-Override")!]
        return request.method == .post && name?.uppercased() == "PATCH" ? .patch : request.method
    }

    /// Answers with what `body` makes, or with its failure.
    func answer(
        about place: KiiPlace, _ body: (KiiPlace) async throws(KiiFailure) -> WebAnswer
    ) async -> WebAnswer {
        do throws(KiiFailure) {
            return try await body(place)
        } catch {
            return error.answer(about: place)
        }
    }

    /// The refusal of a method that a path does not take.
    func unsupported(_ allowed: [HTTPRequest.Method]) -> KiiFailure {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        var failure = KiiFailure(.operationNotSupported, "this path takes \(names)")
        failure.headers[.allow] = names
        return failure
    }

    // MARK: Calls

    /// Carries out a call.
    func ask<Reply>(_ call: TypedCall<Reply>) async throws(KiiFailure) -> Reply {
        do throws(RPCFailure) {
            return try await operations.reply(to: call, from: caller)
        } catch {
            throw KiiFailure(WebFailure(error))
        }
    }

    /// The bucket that a path names.
    func bucket(_ place: KiiPlace) throws(KiiFailure) -> BucketName {
        guard !place.bucket.contains("/") else {
            throw KiiFailure(.invalidBucket, "\(quoted(place.bucket)) is no name of a bucket")
        }
        do throws(ServiceFailure) {
            return try BucketName(place.bucketName)
        } catch {
            throw KiiFailure(WebFailure(error))
        }
    }

    /// The bucket and the object that a path names.
    func object(_ place: KiiPlace) throws(KiiFailure) -> (bucket: BucketName, id: ObjectID) {
        let bucket = try bucket(place)
        do throws(ServiceFailure) {
            return (bucket, try ObjectID(place.object ?? "", at: "id"))
        } catch {
            throw KiiFailure(WebFailure(error))
        }
    }

    /// What `read` makes of an object that the service has written.
    func reading<Value>(
        own text: [UInt8], _ read: (JSONView) -> Value?
    ) throws(KiiFailure) -> Value {
        let value: Value?
        do throws(WebFailure) {
            value = try operations.reading(own: text, read)
        } catch {
            throw KiiFailure(error)
        }
        guard let value else {
            throw KiiFailure(.undefined, "the service's answer cannot be read")
        }
        return value
    }

    /// What `read` makes of the request's body.
    ///
    /// - Throws: 415 for a body of another type, `INVALID_JSON`, what `read` throws.
    func body<Value: Sendable>(
        _ read: @escaping @Sendable (JSONView, Limits) throws(ServiceFailure) -> Value
    ) async throws(KiiFailure) -> Value {
        _ = try KiiMediaType(request.headers[.contentType])
        let limits = operations.limits
        let result: Result<Value, ServiceFailure>
        do throws(JSONSyntaxError) {
            result = try await operations.reading(request.body, for: caller) { view in
                Result { () throws(ServiceFailure) in try read(view, limits) }
            }
        } catch {
            throw KiiFailure(.invalidJSON, "the body: \(error.message)")
        }
        return try result.mapError { KiiFailure(WebFailure($0)) }.get()
    }

    // MARK: Users

    /// Tells who is logged in.
    func answerUser(_ id: String) throws(KiiFailure) -> WebAnswer {
        guard method == .get || method == .head else {
            throw KiiFailure(
                .operationNotImplemented,
                "Users are not stored: not implemented; users are the principals of tokens, "
                    + "which geobucket token makes")
        }
        guard let grant = caller.grant else {
            throw KiiFailure(
                .unauthorized, "log in first: \(KiiCredentials.loginAdvice)")
        }
        guard grant.principal == id else {
            throw KiiFailure(.userNotFound, "the service tells of no other user than \"me\"")
        }
        var writer = JSONWriter()
        writer.raw("{\"userID\":")
        writer.string(id)
        writer.key("internalUserID")
        writer.integer(Self.number(of: id))
        writer.byte(UInt8(ascii: "}"))
        return WebAnswer("application/vnd.kii.UserDataRetrievalResponse+json", writer.bytes)
    }

    /// A number for a user that is always the same, and exact in every client: 53 bits of a digest.
    private static func number(of principal: String) -> Int {
        let digest = SHA256.digest(of: Array(principal.utf8))
        return digest.prefix(7).reduce(0) { $0 << 8 | Int($1) } & (1 << 53 - 1)
    }
}

extension WebAnswer {
    /// An answer with a version in `ETag`.
    init(
        _ type: String, _ body: [UInt8], version: Int, _ status: HTTPResponse.Status = .ok
    ) {
        self.init(type, body, status)
        headers[.eTag] = "\"\(version)\""
    }
}
