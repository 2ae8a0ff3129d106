import Objects
import PlainJSON

/// A reason for which a query finds nothing.
///
///     {"code":"NO_SUCH_FIELD","message":"no object has the field \"runwy_m\"; …","nearest":"runway_m"}
public struct QueryHint: Sendable, Hashable {
    /// What is wrong, by the names of the protocol.
    public enum Code: String, Sendable, CaseIterable {
        /// There is no bucket of that name.
        case noSuchBucket = "NO_SUCH_BUCKET"
        /// No object has a field that the query names.
        case noSuchField = "NO_SUCH_FIELD"
        /// No object has a GeoPoint in a field of a spatial clause.
        case noPlace = "NO_PLACE"
        /// A field never has a value of the type that it is compared with.
        case otherTypes = "OTHER_TYPES"
    }

    /// What is wrong.
    public let code: Code
    /// A sentence for people, with the nearest name.
    public let message: String
    /// The name that may be meant; nil if none resembles the one that is missing.
    public let nearest: String?

    /// - Parameter instead: what `nearest` is, for the sentence: `; the nearest is "airports"`.
    init(
        _ code: Code, _ message: String, nearest: String? = nil, instead: String = "the nearest is"
    ) {
        self.code = code
        self.nearest = nearest
        self.message = message + (nearest.map { "; \(instead) \(quoted($0))" } ?? "")
    }

    /// There is no such bucket.
    ///
    /// - Parameter nearest: one that the reader may know of.
    public static func noBucket(_ name: String, nearest: String?) -> QueryHint {
        QueryHint(.noSuchBucket, "there is no bucket \(quoted(name))", nearest: nearest)
    }

    /// Appends hints as an array, as many as fit.
    public static func write(_ hints: [QueryHint], maximumBytes: Int, to writer: inout JSONWriter) {
        let start = writer.count
        writer.byte(UInt8(ascii: "["))
        for (position, hint) in hints.enumerated() {
            let before = writer.count
            if position > 0 { writer.byte(UInt8(ascii: ",")) }
            writer.raw("{\"code\":")
            writer.string(hint.code.rawValue)
            writer.key("message")
            writer.string(hint.message)
            if let nearest = hint.nearest {
                writer.key("nearest")
                writer.string(nearest)
            }
            writer.byte(UInt8(ascii: "}"))
            if writer.count - start >= maximumBytes {
                writer.truncate(to: before)
                break
            }
        }
        writer.byte(UInt8(ascii: "]"))
    }
}
