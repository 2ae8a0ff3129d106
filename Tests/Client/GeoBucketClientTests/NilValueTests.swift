import Foundation
import GeoBucketClient
import KiiCompatibility
import TestSupport
import Testing

/// Nil is no value, whatever its static type: nothing is set, and no clause asks for null.
@Suite struct NilValueTests {
    private static let text: String? = nil
    private static var number: NSNumber? { nil }
    private static let twice: String?? = .some(nil)
    private static var hidden: Any { text as Any }

    private static func object() -> KiiObject {
        let object = ServiceClient().bucket("some").createObject()
        object.setObject("old", forKey: "x")
        return object
    }

    private static func set<Value: JSONConvertible>(_ value: Value, on object: KiiObject) -> Bool {
        object.setObject(value, forKey: "x")
    }

    @Test func `A nil of any type sets nothing, and the old value stays`() {
        let any: Any? = nil
        let sets: [(KiiObject) -> Bool] = [
            { $0.setObject(nil, forKey: "x") }, { $0.setObject(Self.text, forKey: "x") },
            { $0.setObject(Self.number, forKey: "x") }, { $0.setObject(Self.twice, forKey: "x") },
            { $0.setObject(Self.hidden, forKey: "x") }, { $0.setObject(any, forKey: "x") },
            { $0.setObject(Int?.none, forKey: "x") }, { $0.setObject([String]?.none, forKey: "x") },
            { $0.setObject(JSONValue?.none, forKey: "x") },
            { $0.setObject(["a", Self.hidden] as [Any], forKey: "x") },
            { Self.set(Self.text, on: $0) },
        ]
        for (index, set) in sets.enumerated() {
            let object = Self.object()
            #expect(!set(object), "\(index)")
            #expect(object.document.text == #"{"x":"old"}"#, "\(index)")
        }
        #expect(throws: ClientFailure.self) { try Self.object().set(Self.text, forKey: "x") }
    }

    @Test func `An optional that has a value, and a null that is meant, are set`() {
        let object = Self.object()
        #expect(object.setObject(String?("new"), forKey: "x") && object["x"] == .string("new"))
        #expect(object.setObject(NSNull(), forKey: "x") && object["x"] == .null)
        #expect(object.setObject(Int??(7), forKey: "x") && object["x"] == .int(7))
        #expect(object.setObject(JSONValue.null, forKey: "x") && object["x"] == .null)
    }

    @Test func `A clause with nil is refused by the service, and never asks for null`()
        async throws
    {
        let clauses: [KiiClause] = [
            .equals("x", value: Self.text), .equals("x", value: Self.twice),
            .equals("x", value: Self.hidden), .equals("x", value: Self.number as Any),
            .notEquals("x", value: Self.text), .greaterThan("x", value: Self.text),
            .greaterThanOrEqual("x", value: Self.hidden), .lessThan("x", value: Self.text),
            .lessThanOrEqual("x", value: Self.text), .contains("x", value: Self.text),
            .in("x", value: ["a", Self.text]), .in("x", value: [Self.hidden]),
            Field<String?>("x") == Self.text,
        ]
        try await withBucket { bucket in
            _ = try await bucket.putMany([.object(["x": .null])])
            for clause in clauses {
                let told = await outcome { _ = try await bucket.count(BucketQuery(clause: clause)) }
                #expect(told == "INVALID_INPUT_DATA", "\(clause.json.text)")
            }
            let null = KiiClause.equals("x", value: JSONValue.null)
            #expect(try await bucket.count(BucketQuery(clause: null)) == 1)
        }
    }
}
