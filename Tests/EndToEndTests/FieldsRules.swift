import TestSupport
import Testing

/// What `fields` brings back of an object.
@Suite struct FieldsRules {
    @Test(arguments: [
        ("[]", #"{"_id":"o1"}"#),
        (#"["_id"]"#, #"{"_id":"o1"}"#),
        (#"["n","_id","n"]"#, #"{"_id":"o1","n":1}"#),
        (#"["_version","gone"]"#, #"{"_id":"o1","_version":1}"#),
        // More names than are compared one by one.
        (
            #"["a","b","c","d","e","f","g","h","i","m"]"#,
            #"{"_id":"o1","a":{"n":[1.0]},"m":null}"#
        ),
    ])
    func `Only the named members come back, as they are written, and the id`(
        fields: String, object: String
    ) async throws {
        try await TestService.with { service in
            _ = try await service.put("o1", #"{"n":1,"a":{"n":[1.0]},"m":null}"#)
            let text = try await service.text(
                "bucket.query", #"{"bucket":"b1","fields":\#(fields)}"#)
            #expect(text.contains(#""results":[\#(object)]"#), "\(text)")
        }
    }
}
