import Objects
import TestSupport
import Testing

@testable import InMemoryEngine

/// Which field is the place of a bucket.
@Suite struct PlaceElectionTests {
    private static func place(after former: String?, _ counts: [String: Int]) -> String? {
        PlaceElection.place(
            after: former.map { FieldPath($0) },
            among: counts.map { (field: FieldPath($0.key), objects: $0.value) })?.text
    }

    @Test func `Most objects decide, and of equals the name`() {
        #expect(Self.place(after: nil, [:]) == nil)
        #expect(Self.place(after: nil, ["b": 2, "a": 1]) == "b")
        #expect(Self.place(after: nil, ["b": 2, "a": 2, "c": 2]) == "a")
        #expect(Self.place(after: "gone", ["b": 2, "a": 1]) == "b")
    }

    @Test func `The place stays until another field has more than twice as many objects`() {
        #expect(Self.place(after: "a", ["a": 5, "b": 10]) == "a")
        #expect(Self.place(after: "a", ["a": 5, "b": 11]) == "b")
        #expect(Self.place(after: "b", ["a": 5, "b": 5]) == "b")
    }
}
