import Objects
import Testing
import WebExchange

@Suite struct CollectionNameTests {
    @Test(arguments: [
        ("airports", "airports", nil), ("users~alice~notes", "users/alice/notes", nil),
        ("airports@place.at", "airports", "place.at"),
        ("things~a.b~log@a~b@c/d", "things/a.b/log", "a~b@c/d"),
        // A mark that would be one character with the letter before it.
        ("airports@\u{301}x", "airports", "\u{301}x"),
    ])
    func `A collection is a bucket with ~ for /, and perhaps a field behind @`(
        text: String, bucket: String, field: String?
    ) throws {
        let collection = try CollectionName(text)
        #expect(collection.bucket.text == bucket)
        #expect(collection.field?.text == field)
        #expect(collection.text == text)
    }

    @Test(arguments: [
        ("", "INVALID_BUCKET"), ("a", "INVALID_BUCKET"), ("users", "INVALID_BUCKET"),
        ("users/alice/notes", "INVALID_BUCKET"), ("users~alice", "INVALID_BUCKET"),
        ("@place", "INVALID_BUCKET"), ("airports@", "INVALID_INPUT_DATA"),
    ])
    func `A collection that is none is refused with its path`(text: String, code: String) {
        #expect {
            _ = try CollectionName(text)
        } throws: { error in
            let failure = error as? WebFailure
            return failure?.errorCode == code && failure?.path == "collection"
                && failure?.status == .badRequest
        }
    }
}
