import PlainJSON
import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// An object of a bucket, as this app has read and changed it.
///
///     let shop = bucket.createObject()
///     shop.setObject("Kiosk", forKey: "name")
///     shop.setGeoPoint(GeoPoint(latitude: 35.66, longitude: 139.75), forKey: "location")
///     try await shop.save()
///     shop.uuid                                    // the id it was given
///
/// A reference, like Kii's `KiiObject`; safe to share between tasks. Concurrent saves of one object
/// take effect in any order, and two concurrent first saves make two objects. Field names compare
/// as sequences of code points.
public final class GeoObject: Sendable {
    /// The bucket that the object is saved to and read from.
    public let bucket: Bucket
    let state: Mutex<State>

    /// An object that has not been sent yet.
    ///
    /// - Parameter dataType: its `_dataType`, 1 to 200 bytes.
    public convenience init(_ bucket: Bucket, dataType: String? = nil) {
        self.init(bucket, state: State(dataType: dataType))
    }

    /// The object with an id in the bucket, not read yet; without an id, a new one.
    public convenience init(_ bucket: Bucket, id: String?) {
        self.init(bucket, state: State(id: id))
    }

    /// - Parameters:
    ///   - document: an object as the service wrote it.
    ///   - isPartial: whether it has only some of the object's fields.
    convenience init(_ bucket: Bucket, document: JSONView, isPartial: Bool) throws {
        var state = try State(document)
        state.isPartial = isPartial
        self.init(bucket, state: state)
    }

    init(_ bucket: Bucket, state: State) {
        self.bucket = bucket
        self.state = Mutex(state)
    }

    // MARK: Predefined fields

    /// The object's id; nil before the first save and after `delete`.
    public var uuid: String? { state.withLock { $0.id } }
    /// When the service created the object; nil before it is read or saved here.
    public var created: Date? { state.withLock { $0.created }.map(Self.date) }
    /// When the service last changed the object; nil before it is read or saved here.
    public var modified: Date? { state.withLock { $0.modified }.map(Self.date) }
    /// 1 at creation, one more for each change.
    public var version: Int64? { state.withLock { $0.version } }
    /// The principal whose token created the object; nil if there was none, and before a read.
    public var owner: String? { state.withLock { $0.owner } }
    /// The object's `_dataType`; nil if it has none.
    public var objectType: String? { state.withLock { $0.dataType } }

    /// When the object expires; nil means never. A save sends what is set here, limited to 1970 at
    /// the earliest and to 2^53 - 1 milliseconds at the latest.
    public var expires: Date? {
        get { state.withLock { $0.expires }.map(Self.date) }
        set {
            let milliseconds = newValue.map(Self.expiry)
            state.withLock { ($0.expires, $0.expiryIsChanged) = (milliseconds, true) }
        }
    }

    /// A time that the service accepts: 0 to 2^53 - 1 milliseconds since 1970.
    private static func expiry(_ date: Date) -> Int64 {
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        let latest: Int64 = (1 << 53) - 1
        return milliseconds < Double(latest) ? Int64(max(milliseconds, 0)) : latest
    }

    private static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    // MARK: Reading

    /// The value of a field: nil if it is missing, `.null` if it is JSON's null.
    ///
    /// Predefined fields and `_calculated` have the names of the protocol.
    public subscript(key: String) -> JSONValue? { state.withLock { $0[key] } }

    /// A field's value as this type; nil if it is missing or of another type. Never crashes.
    public func string(forKey key: String) -> String? { self[key]?.string }
    /// A whole number that fits `Int`, also if it is written as `3.0`; nil for anything else.
    public func int(forKey key: String) -> Int? { self[key]?.int }
    /// A whole number that fits `Int64`, also if it is written as `3.0`; nil for anything else.
    public func int64(forKey key: String) -> Int64? { self[key]?.int64 }
    /// A number as the nearest binary64; nil for anything else.
    public func double(forKey key: String) -> Double? { self[key]?.double }
    /// A number with all its digits; nil for anything else, and for more than the 38 digits of a
    /// `Decimal`.
    public func decimal(forKey key: String) -> Decimal? { self[key]?.decimal }
    /// A boolean; nil for anything else, numbers included.
    public func bool(forKey key: String) -> Bool? { self[key]?.bool }
    /// A number of milliseconds since 1970 as a time; nil for anything else.
    public func date(forKey key: String) -> Date? { self[key]?.date }
    /// The elements of an array; nil for anything else.
    public func array(forKey key: String) -> [JSONValue]? { self[key]?.array }
    /// The members of an object by name, the last of duplicates; nil for anything else.
    public func dictionary(forKey key: String) -> [String: JSONValue]? { self[key]?.dictionary }
    /// A GeoPoint that is in range; nil for anything else.
    public func getGeoPoint(forKey key: String) -> GeoPoint? { self[key]?.geoPoint }

    /// The GeoPoints among the elements of an array, or a field's only GeoPoint; empty for anything
    /// else. Clauses on the field ask for any of these.
    public func getGeoPoints(forKey key: String) -> [GeoPoint] {
        self[key].map { ($0.array ?? [$0]).compactMap(\.geoPoint) } ?? []
    }

    /// A field's value as any type that JSON can hold.
    ///
    /// - Throws: `JSONMismatch`, with the path of what does not match; a missing field reads as null.
    public func value<Value: JSONConvertible>(
        _ type: Value.Type = Value.self, forKey key: String
    ) throws -> Value {
        try JSONMismatch.inside(key) { try Value(jsonValue: self[key] ?? .null) }
    }

    /// Whether the field is present, null or not.
    public func hasObject(_ key: String) -> Bool { self[key] != nil }

    /// The distance in metres that a clause reported under a name.
    public func distance(_ name: String) -> Double? { self["_calculated"]?[name]?.double }

    /// The document: predefined fields first, then the app's own.
    public var document: JSONValue { state.withLock { $0.document } }

    // MARK: Writing

    /// Sets a field locally; `save` sends it.
    ///
    /// - Throws: `ClientFailure.invalid` for names that begin with `_`, for nil, whatever its type,
    ///   and for values that JSON cannot hold.
    public func set(_ value: some JSONConvertible, forKey key: String) throws {
        try Self.check(key)
        do {
            let value = try JSONMismatch.inside(key) { try JSONValue(nonNil: value) }
            state.withLock { $0.set(value, key) }
        } catch let mismatch as JSONMismatch {
            throw ClientFailure.invalid(mismatch.message, path: mismatch.path)
        }
    }

    /// Sets a field locally; `save` sends it.
    ///
    /// - Returns: false, without a change, for names that begin with `_`, for nil, whatever its
    ///   type, and for values that JSON cannot hold; `set(_:forKey:)` throws the reason.
    @discardableResult
    public func setObject(_ value: some JSONConvertible, forKey key: String) -> Bool {
        (try? set(value, forKey: key)) != nil
    }

    /// Sets a field locally; returns false for a point out of range.
    @discardableResult
    public func setGeoPoint(_ point: GeoPoint, forKey key: String) -> Bool {
        setObject(point, forKey: key)
    }

    /// Sets a field locally to an array of GeoPoints; returns false if one is out of range. The
    /// service accepts up to 100.
    @discardableResult
    public func setGeoPoints(_ points: [GeoPoint], forKey key: String) -> Bool {
        setObject(points, forKey: key)
    }

    /// Removes a field locally; `save` removes it from the service's copy.
    public func remove(forKey key: String) {
        if (try? Self.check(key)) != nil { state.withLock { $0.set(nil, key) } }
    }

    /// - Throws: `ClientFailure.invalid` for names that begin with `_`.
    static func check(_ key: String) throws {
        if key.isPredefinedName {
            throw ClientFailure.invalid(
                "names that begin with '_' are the service's own", path: key)
        }
    }
}

/// Two variables are equal if they refer to the same instance: an object is changed in place, and
/// has no id before its first save. To compare objects of the bucket, compare `uuid`.
extension GeoObject: Hashable {
    public static func == (a: GeoObject, b: GeoObject) -> Bool { a === b }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension GeoObject: CustomStringConvertible {
    /// The bucket's name and the document: `shops {"_id":"7","name":"Kiosk"}`.
    public var description: String { "\(bucket.name) \(document.text)" }
}

extension String {
    /// Whether the service reserves this name: its first code point is `_`.
    var isPredefinedName: Bool { utf8.first == UInt8(ascii: "_") }
}
