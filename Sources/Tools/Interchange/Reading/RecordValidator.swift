import BackendContract
import JSONText
import Objects

/// Finds faults that the service would refuse, before the object is sent.
struct RecordValidator {
    private let parser = JSONParser()
    private let limits: Limits

    init(limits: Limits) { self.limits = limits }

    /// The view of a valid object, valid until the next call.
    func validate(_ text: UnsafeBufferPointer<UInt8>) throws(RecordError) -> JSONView {
        let view = try parse(text)
        try check(view)
        return view
    }

    /// - Throws: why the service would refuse the object.
    func check(_ view: JSONView) throws(RecordError) {
        guard view.kind == .object else { throw RecordError("expected a JSON object") }
        if let id = view["_id"] { try Self.checkID(id.string) }
        do throws(ServiceFailure) {
            _ = try WrittenDocument(view, at: Self.root, limits: limits)
        } catch {
            throw Self.recordError(error)
        }
    }

    func parse(_ text: UnsafeBufferPointer<UInt8>) throws(RecordError) -> JSONView {
        do throws(JSONSyntaxError) {
            return try parser.parse(text)
        } catch {
            throw Self.error(error)
        }
    }

    /// A fault of JSON, with its place in the record.
    static func error(_ error: JSONSyntaxError) -> RecordError {
        RecordError(error.message + (error.offset.map { ", at byte \($0 + 1)" } ?? ""))
    }

    /// - Parameter text: nil for an `_id` that is not a string.
    static func checkID(_ text: String?) throws(RecordError) {
        guard let text else { throw RecordError("expected a string", path: "_id") }
        do throws(ServiceFailure) {
            _ = try ObjectID(text, at: root)
        } catch {
            throw RecordError(error.message, path: "_id")
        }
    }

    private static let root = "object"

    /// The path relative to the record, without the object's own path.
    private static func recordError(_ failure: ServiceFailure) -> RecordError {
        let path = failure.path.flatMap { path in
            path.hasPrefix(root + ".") ? String(path.dropFirst(root.count + 1)) : nil
        }
        return RecordError(failure.message, path: path)
    }
}
