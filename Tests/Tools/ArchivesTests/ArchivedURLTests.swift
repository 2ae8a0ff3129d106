import Foundation
import JSONText
import Testing

/// URLs with a base, against what Foundation resolves.
@Suite struct ArchivedURLTests {
    private static let bases = [
        "http://a", "http://a/", "http://a/b", "http://a/b/c/", "http://a:81/b/c", "file:///x/y",
    ]

    private static let relatives = [
        "g", "g/h", "/g", "/", "g?y", "https://h/i", "ftp://h", "a%20b", "g;x=1", "g.h#i",
        "search?u=http://h/", "//h/i", "?y", "#f", "", "mailto:a@b",
    ]

    @Test(arguments: bases, relatives)
    func `A URL is joined with its base as Foundation does`(
        _ base: String, _ relative: String
    ) throws {
        let url = try #require(
            NSURL(string: relative, relativeTo: URL(string: base)!))
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encode(url, forKey: "root")
        archiver.finishEncoding()
        let expected = url.absoluteString
        #expect(
            outcome(Array(archiver.encodedData)) == JSONValue.string(expected).text,
            "\(relative) at \(base)")
    }
}
