import Digests
import HTTPTypes
import JSONText
import Objects
import Operations
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

    /// Calls a method of the line protocol.
    ///
    /// - Parameters:
    ///   - body: the member of the params that the client's body is.
    ///   - params: appends the members after the bucket.
    func call(
        _ method: MethodName, _ place: KiiPlace, body: String? = nil,
        _ params: (inout JSONWriter) -> Void = { _ in }
    ) async throws(KiiFailure) -> [UInt8] {
        guard !place.bucket.contains("/") else {
            throw KiiFailure(.invalidBucket, "\(quoted(place.bucket)) is no name of a bucket")
        }
        var writer = JSONWriter()
        writer.raw("{\"bucket\":")
        writer.string(place.bucketName)
        if let object = place.object {
            writer.key("id")
            writer.string(object)
        }
        params(&writer)
        writer.byte(UInt8(ascii: "}"))
        do throws(RPCFailure) {
            return try await operations.call(method, writer.bytes, from: caller)
        } catch {
            guard error.errorCode != KiiFailure.Code.unauthorized.rawValue else {
                throw KiiFailure(
                    .unauthorized, error.message(forLogin: "send Authorization: Bearer TOKEN"))
            }
            throw KiiFailure(error, inside: body)
        }
    }

    /// What `body` makes of a JSON text of the service.
    func reading<Value>(
        _ text: [UInt8], _ body: (JSONView) -> Value?
    ) throws(KiiFailure) -> Value {
        if let value = try? JSONParser.reading(text, body) { return value }
        throw KiiFailure(.undefined, "the service's answer cannot be read")
    }

    /// The request's body as JSON text.
    ///
    /// - Throws: 415 for a body of another type, `INVALID_JSON`.
    func body() throws(KiiFailure) -> [UInt8] {
        _ = try KiiMediaType(request.headers[.contentType])
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        do throws(JSONSyntaxError) {
            return Array(try parser.parse(request.body).text)
        } catch {
            throw KiiFailure(.invalidJSON, "the body: \(error.message)")
        }
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
            throw KiiFailure(.unauthorized, "log in first: send Authorization: Bearer TOKEN")
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
