import Testing

@testable import InMemoryEngine

struct PlanCountersTests {
    @Test func `Every kind of path has a number and a name of its own`() {
        let kinds = AccessPath.Kind.allCases
        #expect(kinds.map(\.number) == Array(kinds.indices))
        #expect(Set(kinds.map(\.name)).count == kinds.count)
    }
}
