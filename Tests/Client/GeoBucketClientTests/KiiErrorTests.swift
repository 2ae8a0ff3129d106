import Foundation
import GeoBucketClient
import KiiCompatibility
import TestSupport
import Testing

/// Errors as code written for Kii's SDK catches them.
@Suite struct KiiErrorTests {
    /// The blocking sample of Kii's guide, word for word but for what is called.
    private static func sample(_ call: () throws -> Void) -> NSError? {
        do {
            try call()
        } catch let error as NSError {
            return error
        }
        return nil
    }

    /// Runs a blocking call on a thread of its own, and says what it threw.
    private static func error(_ call: @escaping @Sendable () throws -> Void) async -> NSError? {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: sample(call)) }.start()
        }
    }

    @Test func `The guide's samples catch what the service refuses`() async throws {
        try await withBucket { bucket in
            let object = bucket.createObject(withID: "none")
            let error = try #require(await Self.error { try object.refreshSynchronous() })
            #expect(error.domain == KiiError.domain && error.code == 510)
            #expect(error.code == KiiError.codeObjectNotFound())
            #expect(error.kiiHttpStatus() == 404)
            #expect(error.kiiErrorSummary() == "OBJECT_NOT_FOUND")
            let message = try #require(error.kiiErrorMessage())
            #expect(!message.isEmpty && error.localizedDescription.contains(message))
            #expect(error.localizedDescription.hasPrefix("OBJECT_NOT_FOUND"))
            #expect(error.userInfo["errorCode"] as? String == "OBJECT_NOT_FOUND")
            #expect(error.userInfo["message"] as? String == message)
            #expect(error.userInfo["description"] as? String == error.localizedDescription)
        }
    }

    @Test func `Every blocking call throws an NSError`() async throws {
        try await FakeService { _, _ in
            .error(#"{"code":-32602,"message":"no","data":{"errorCode":"UNAUTHORIZED"}}"#)
        }
        .serve { _, port in
            let client = ServiceClient(ServiceAddress(host: "127.0.0.1", port: port))
            let bucket = client.bucket("some")
            let object = bucket.createObject(withID: "some")
            let calls: [@Sendable () throws -> Void] = [
                { try object.saveSynchronous() }, { try object.saveSynchronous(true) },
                { try object.saveAllFieldsSynchronous(true) }, { try object.refreshSynchronous() },
                { try object.deleteSynchronous() }, { try bucket.deleteSynchronous() },
                { _ = try bucket.countObjectsSynchronous() },
                { _ = try bucket.countObjectsSynchronous(KiiQuery(clause: nil), error: ()) },
                { _ = try bucket.executeQuerySynchronous(KiiQuery(clause: nil), nextQuery: nil) },
                {
                    var nextQuery: KiiQuery?
                    _ = try bucket.executeQuerySynchronous(nil, nextQuery: &nextQuery)
                },
            ]
            for call in calls {
                let error = await Self.error(call)
                #expect(error?.code == 203 && error?.kiiHttpStatus() == 401)
            }
            await client.close()
            let closed = await Self.error { try object.saveSynchronous() }
            #expect(closed?.code == 101 && closed?.kiiHttpStatus() == 0)
            #expect(closed?.kiiErrorSummary() == nil)
            #expect(closed?.localizedDescription == "the client is closed")
        }
    }

    @Test func `Every block is given an NSError`() async throws {
        let client = ServiceClient()
        await client.close()
        let bucket = client.bucket("some")
        let object = bucket.createObject(withID: "some")
        let errors: [(any Error)?] = [
            await Self.told { done in object.save { done($1) } },
            await Self.told { done in object.save(true) { done($1) } },
            await Self.told { done in object.saveAllFields(true) { done($1) } },
            await Self.told { done in object.refresh { done($1) } },
            await Self.told { done in object.delete { done($1) } },
            await Self.told { done in bucket.execute(nil) { done($4) } },
            await Self.told { done in bucket.count { done($3) } },
            await Self.told { done in bucket.count(with: KiiQuery(clause: nil)) { done($3) } },
            await Self.told { done in bucket.delete { done($1) } },
        ]
        for error in errors {
            // As Kii's sample app hands it on.
            #expect((error as NSError?)?.code == 101)
        }
    }

    private static func told(_ call: (@escaping ((any Error)?) -> Void) -> Void) async -> (
        any Error
    )? {
        await withCheckedContinuation { continuation in
            call { continuation.resume(returning: $0) }
        }
    }

    @Test func `Patterns of the client's own errors catch them too`() async throws {
        try await withBucket { bucket in
            let object = bucket.createObject(withID: "none")
            let error = try #require(await Self.error { try object.refreshSynchronous() })
            do {
                throw error
            } catch ClientFailure.refused(let failure) where failure.reason == .objectNotFound {
                #expect(failure.errorCode == "OBJECT_NOT_FOUND")
            }
            #expect(error as any Error is ClientFailure)
            #expect(!(error as any Error is JSONMismatch))
            #expect(!(NSError(domain: "some", code: 1) as any Error is ClientFailure))
            // What the async forms throw is a ClientFailure, and can be caught as Kii's samples do.
            do {
                try await object.refresh()
                Issue.record("there is such an object")
            } catch let error as NSError {
                #expect(error.code == 510 && error.kiiErrorSummary() == "OBJECT_NOT_FOUND")
            }
            do {
                _ = try JSONValue.null.decode(Int.self)
            } catch let error as NSError {
                #expect(error.code == 202)
                #expect(error.localizedDescription == "expected a number, found null")
            }
        }
    }

    @Test func `Errors say what happened to whoever asks as Foundation does`() {
        let refused = RemoteFailure(code: 1, errorCode: "SOME", message: "no", path: "a")
        for error: any Error & CustomStringConvertible in [
            ClientFailure.timedOut, ClientFailure.refused(refused), refused,
            JSONMismatch("is odd", at: "a"),
        ] {
            #expect(error.localizedDescription == error.description)
        }
    }

    private static let codes: [(any Error, Int, Int)] = [
        (ClientFailure.unreachable(host: "h", port: 1, reason: "r"), 201, 0),
        (ClientFailure.disconnected, 201, 0), (ClientFailure.timedOut, 201, 0),
        (ClientFailure.closed, 101, 0), (ClientFailure.malformedAnswer("x"), 202, 0),
        (ClientFailure.invalid("no id", path: nil), 516, 0),
        (ClientFailure.invalid("nan", path: "a"), 502, 0), (CancellationError(), 103, 0),
        (refused("UNAUTHORIZED"), 203, 401), (refused("WRONG_TOKEN"), 203, 403),
        (refused("OPERATION_NOT_ALLOWED"), 203, 409), (refused("OBJECT_NOT_FOUND"), 510, 404),
        (refused("BUCKET_NOT_FOUND"), 509, 404), (refused("INVALID_BUCKET"), 509, 400),
        (refused("OBJECT_VERSION_IS_STALE"), 512, 409),
        (refused("OBJECT_ALREADY_EXISTS"), 503, 409),
        (refused("QUERY_NOT_SUPPORTED"), 604, 400),
        (refused("INVALID_INPUT_DATA", "bucketQuery.clause.box"), 604, 400),
        (refused("INVALID_INPUT_DATA", "bestEffortLimit"), 604, 400),
        (refused("INVALID_INPUT_DATA", "fields[1]"), 604, 400),
        (refused("INVALID_INPUT_DATA", "object.a"), 502, 400),
        (refused("INVALID_OBJECT_ID"), 502, 400), (refused("OBJECT_TOO_LARGE"), 502, 413),
        (refused("TOO_MANY_REQUESTS"), 103, 429), (refused("QUERY_TIMEOUT"), 103, 503),
        (refused("TEMPORARY_UNAVAILABLE_ERROR"), 103, 503), (refused("STORE_FULL"), 103, 503),
        (refused("UNDEFINED_ERROR"), 103, 500), (refused("OF_A_LATER_DAY"), 103, 500),
    ]

    private static func refused(_ code: String, _ path: String? = nil) -> ClientFailure {
        .refused(RemoteFailure(code: -32_000, errorCode: code, message: "no", path: path))
    }

    @Test func `Each error has Kii's code where Kii had one, and its status`() {
        for (error, code, status) in Self.codes {
            let shown = KiiError.error(for: error)
            #expect(shown.code == code && shown.kiiHttpStatus() == status, "\(error)")
        }
    }
}
