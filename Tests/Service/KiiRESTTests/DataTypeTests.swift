import Testing

@testable import KiiREST

/// Objects' types as media types.
@Suite struct DataTypeTests {
    private static func dataType(_ field: String?, bytes: Int = 200) -> String {
        do throws(KiiFailure) {
            return try KiiMediaType(field).dataType(in: "my-app.1", atMost: bytes)
        } catch {
            return error.code.rawValue
        }
    }

    @Test(arguments: [
        (nil, "application/json"), ("application/json", "application/json"),
        ("Application/JSON;charset=UTF-8", "application/json"),
        ("application/vnd.my-app.1.note+json", "application/vnd.my-app.1.note+json"),
        ("application/vnd.my-app.1.Note+json\"", "application/vnd.my-app.1.Note+json"),
        (" application/vnd.my-app.1.a.b+json ; x=y", "application/vnd.my-app.1.a.b+json"),
        // Those of others are JSON, and nothing more is known of them.
        ("application/vnd.other.note+json", "application/json"),
        ("application/vnd.my-app.12.note+json", "application/json"),
        ("application/vnd.my-app.1.+json", "INVALID_DATA_TYPE"),
        // A stray slash is what clients send; a second type is not.
        (
            "application/vnd.my-app.1.application/json+json",
            "application/vnd.my-app.1.application/json+json"
        ),
        ("application/vnd.my-app.1.a,text/html,+json", "INVALID_DATA_TYPE"),
        ("application/vnd.my-app.1.a\tb+json", "INVALID_DATA_TYPE"),
        ("text/plain", "INVALID_DATA_TYPE"), ("", "INVALID_DATA_TYPE"),
        ("application/jsonx", "INVALID_DATA_TYPE"), ("json", "INVALID_DATA_TYPE"),
    ])
    func `The application's own types are data types, and others that are JSON by name are JSON`(
        _ field: String?, _ expected: String
    ) { #expect(Self.dataType(field) == expected) }

    @Test(arguments: [-1, 0, 1])
    func `A data type may be as long as the limit`(_ beyond: Int) {
        let (start, end) = ("application/vnd.my-app.1.", "+json")
        let name = String(repeating: "n", count: 100 - start.count - end.count + beyond)
        let found = Self.dataType(start + name + end, bytes: 100)
        #expect(found == (beyond > 0 ? "INVALID_DATA_TYPE" : start + name + end))
    }

    @Test(arguments: [
        (nil, "application/json"), ("application/json", "application/json"),
        ("application/vnd.my-app.1.note+json", "application/vnd.my-app.1.note+json"),
        // What the line port has stored is any text, the object is JSON.
        ("text/html", "application/json"), ("a/b", "application/json"),
        ("application/geo+json", "application/geo+json"),
        ("note", "application/vnd.my-app.1.note+json"), ("two\r\nlines: x", "application/json"),
        ("a,text/html,+json", "application/json"), ("a,text/html,b/c+json", "application/json"),
        ("text/html,+json", "application/json"), (",text/html,", "application/json"),
        ("a b", "application/json"), ("a\"b", "application/json"), ("é", "application/json"),
        ("a/b/c+json", "application/json"), ("/+json", "application/json"),
        ("text/html;x=/+json", "application/json"), ("", "application/vnd.my-app.1.+json"),
    ])
    func `An object is answered with its own type`(_ dataType: String?, _ expected: String) {
        #expect(KiiMediaType.contentType(of: dataType, in: "my-app.1") == expected)
    }
}
