import Objects
import ServiceDesk
import Testing
import Wire

@testable import WebExchange

/// What is known of buckets for a moment, within a budget.
@Suite struct CatalogTests {
    private static func bucket(_ number: Int) -> BucketName { BucketName(trusted: "b\(number)") }

    private static func entry(bytes: Int, at time: Int64) -> Catalog.Entry {
        let field = SurveyedField(path: String(repeating: "n", count: bytes), types: [])
        let geoFields = GeoFields(all: [FieldPath("at")], place: FieldPath("at"))
        return Catalog.Entry(geoFields: geoFields, fields: [field], grant: nil, time: time)
    }

    @Test func `Long names do not take more memory than the budget`() {
        let catalog = Catalog(operations: NoOperations()) { 0 }
        for number in 0..<200 {
            catalog.keep(Self.entry(bytes: 1 << 20, at: 1_000), of: Self.bucket(number))
            #expect(catalog.bytes <= Catalog.maximumBytes)
            #expect(catalog.entry(of: Self.bucket(number), for: nil, at: 1_000) != nil)
        }
        catalog.keep(Self.entry(bytes: Catalog.maximumBytes, at: 1_000), of: Self.bucket(0))
        #expect(catalog.bytes <= Catalog.maximumBytes)
        #expect(catalog.entry(of: Self.bucket(0), for: nil, at: 1_000) == nil)
    }

    @Test func `What may not be used any more is forgotten, and counted no longer`() {
        let catalog = Catalog(operations: NoOperations()) { 0 }
        for number in 0..<50 {
            catalog.keep(Self.entry(bytes: 1_000, at: 10_000), of: Self.bucket(number))
        }
        let full = catalog.bytes
        catalog.keep(Self.entry(bytes: 1_000, at: 10_000), of: Self.bucket(7))
        #expect(catalog.bytes == full, "the same bucket again takes nothing more")
        catalog.keep(Self.entry(bytes: 1_000, at: 20_000), of: Self.bucket(99))
        #expect(catalog.bytes == full / 50)
        #expect(catalog.entry(of: Self.bucket(7), for: nil, at: 20_000) == nil)
    }
}

/// A service that is not asked.
private struct NoOperations: WebOperations {
    let limits = Limits()

    func reply<Reply>(
        to call: TypedCall<Reply>, from caller: Caller
    ) async throws(RPCFailure) -> Reply {
        throw .invalidRequest("nobody asks")
    }

    func caller(of request: WebRequest) throws(WebFailure) -> Caller { throw .notFound }
}
