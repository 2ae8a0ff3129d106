import Testing

@testable import WebServer

/// Objects' types as media types.
@Suite struct DataTypeTests {
    private static func dataType(_ field: String?, bytes: Int = 200) -> String {
        do throws(KiiFailure) {
            return try KiiMediaType(field).dataType(in: "my-app.1", atMost: bytes) ?? "none"
        } catch {
            return error.code.rawValue
        }
    }

    @Test(arguments: [
        (nil, "none"), ("application/json", "none"), ("Application/JSON;charset=UTF-8", "none"),
        ("application/vnd.my-app.1.note+json", "note"),
        ("application/vnd.my-app.1.Note+json\"", "Note"),
        (" application/vnd.my-app.1.a.b+json ; x=y", "a.b"),
        // Those of others are JSON, and nothing more is known of them.
        ("application/vnd.other.note+json", "none"),
        ("application/vnd.my-app.12.note+json", "none"),
        ("application/vnd.my-app.1.+json", "INVALID_DATA_TYPE"),
        // This is what clients call plain JSON.
        ("application/vnd.my-app.1.application/json+json", "none"),
        ("application/vnd.my-app.1.a/b+json", "INVALID_DATA_TYPE"),
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
        let name = String(repeating: "n", count: 100 + beyond)
        let found = Self.dataType("application/vnd.my-app.1.\(name)+json", bytes: 100)
        #expect(found == (beyond > 0 ? "INVALID_DATA_TYPE" : name))
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
