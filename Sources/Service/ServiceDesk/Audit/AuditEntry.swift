import Glibc
import JSONText
import Objects

/// What somebody did, or was refused: a line of the audit log.
///
///     {"time":"2026-03-01T12:00:00.123Z","principal":"alice","address":"10.0.0.1",
///      "method":"object.putMany","bucket":"shops","objects":20,"outcome":"done"}
struct AuditEntry: Sendable {
    /// Milliseconds since 1970.
    let time: Int64
    /// Nil without a login.
    let principal: String?
    let address: String
    /// Nil if it is not known.
    let method: MethodName?
    /// Nil if it is about none, or about several.
    let bucket: BucketName?
    /// How many objects were written, deleted or found; nil if that is not known.
    let objects: Int?
    /// The error it was answered with; nil if it was done.
    let errorCode: String?

    /// The id of the token by which a login failed; nil if it has none.
    var token: String?

    /// The entry as JSON, with a line break.
    var line: [UInt8] {
        var writer = JSONWriter()
        writer.raw("{\"time\":")
        writer.string(Self.text(of: time))
        if let principal {
            writer.key("principal")
            writer.string(principal)
        }
        writer.key("address")
        writer.string(address)
        if let method {
            writer.key("method")
            writer.string("\(method.text)")
        }
        if let bucket {
            writer.key("bucket")
            writer.string(bucket.text)
        }
        if let objects {
            writer.key("objects")
            writer.integer(objects)
        }
        if let token {
            writer.key("token")
            writer.string(token)
        }
        writer.key("outcome")
        writer.string(errorCode ?? "done")
        writer.raw("}\n")
        return writer.bytes
    }

    /// In UTC, by RFC 3339 with milliseconds.
    private static func text(of milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1_000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &parts)
        let whole = String(
            decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return "\(whole).\(String(1_000 + milliseconds % 1_000).dropFirst())Z"
    }
}
