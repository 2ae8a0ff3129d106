import Foundation
import TestSupport
import Testing

@testable import QueryLanguage

/// What the map page knows of the filter expressions, against the table of the dialect.
@Suite struct TextDialectTests {
    private static let page = Checkout.root.appending(path: "Sources/Service/WebFiles/filter.js")

    @Test func `The map page spells conditions with all operators of filter expressions`() throws {
        let script = try String(contentsOf: Self.page, encoding: .utf8)
        let dialect = TextDialect.filterExpression
        let names = dialect.operators.map(\.name)
        let spelled = script.matches(of: #/"([=!<>^~]+)"/#).map { String($0.output.1) }
        #expect(Set(spelled) == Set(names.filter { !$0.first!.isLetter }))

        let list = try #require(try #/KEYWORDS = new Set\(\[([^\]]*)\]/#.firstMatch(in: script))
        let quoted = list.output.1.matches(of: #/"(\w+)"/#).map { String($0.output.1) }
        let words =
            [dialect.and, dialect.or, dialect.not, dialect.null, "true", "false"]
            + dialect.functions.keys + names.filter { $0.first!.isLetter }
        #expect(Set(quoted) == Set(words))
        #expect(quoted.count == words.count)
    }
}
