import BackendContract
import JSONText
import Objects

/// Finds faults that the service would refuse, before the object is sent.
struct RecordValidator {
    private let parser = JSONParser()
    private let limits: Limits

    init(limits: Limits) { self.limits = limits }

    /// The view of a valid object, valid until the next call.
    func validate(_ text: [UInt8]) throws(RecordError) -> JSONView {
        let view = try parse(text)
        try check(view)
        return view
    }

    /// - Throws: why the service would refuse the object.
    func check(_ view: JSONView) throws(RecordError) {
        guard view.kind == .object else { throw RecordError("expected a JSON object") }
        do throws(ServiceFailure) {
            if let id = view["_id"] {
                guard let text = id.utf8 else {
                    throw ServiceFailure(.invalidObjectID, "expected a string", at: Self.id)
                }
                if !ObjectID.isValid(text) { _ = try ObjectID(text.text, at: Self.id) }
            }
            _ = try WrittenDocument(view, at: Self.root, limits: limits)
        } catch {
            throw Self.recordError(error)
        }
    }

    /// The view of any JSON value, valid until the next call.
    func parse(_ text: [UInt8]) throws(RecordError) -> JSONView {
        do throws(JSONSyntaxError) {
            return try parser.parse(text)
        } catch {
            throw RecordError(error.message + (error.offset.map { ", at byte \($0 + 1)" } ?? ""))
        }
    }

    private static let id = root + "._id"
    private static let root = "object"

    /// The path relative to the record, without the object's own path.
    private static func recordError(_ failure: ServiceFailure) -> RecordError {
        let path = failure.path.flatMap { path in
            path.hasPrefix(root + ".") ? String(path.dropFirst(root.count + 1)) : nil
        }
        return RecordError(failure.message, path: path)
    }
}
