import BackendContract
import InMemoryEngine
import Objects
import QueryLanguage
import Runtime

/// Page keys as clients may send them: any text but one that was given out is refused.
enum PageKeyTarget {
    private struct NoDocuments: DocumentSource {
        func document(
            creation: ChangeNumber
        ) throws(ServiceFailure) -> (change: ChangeNumber, text: [UInt8])? { nil }

        func forEachDocument(
            in bucket: BucketName, _ body: (ChangeNumber, [UInt8]) -> Bool
        ) throws(ServiceFailure) {}
    }

    private static let engine = Engine(
        limits: Limits(), secret: [1, 2, 3], source: NoDocuments(),
        clock: ServiceClock(milliseconds: { 0 }))

    static func run(_ bytes: [UInt8]) {
        let key = String(decoding: bytes, as: UTF8.self)
        let query = Query(paginationKey: key)
        do {
            _ = try engine.prepare(.page(query, in: BucketName(trusted: "shops")))
            preconditionFailure("a page key that nobody gave out was taken")
        } catch {
            precondition(error.reason == .invalidInputData, error.message)
        }
    }
}
