import JSONText

/// A property list as a table of values that refer to each other by index; nothing is expanded.
///
/// Foundation reads property lists too, but on Linux it hides the references of a keyed archive,
/// and it recurses as deeply as the file nests.
struct PropertyList: Sendable {
    enum Value: Sendable {
        case null
        case bool(Bool)
        case number(JSONNumber)
        /// Seconds since 2001-01-01T00:00:00Z.
        case date(Double)
        case data([UInt8])
        case string(String)
        /// A reference of a keyed archive: an index into `$objects`.
        case uid(Int)
        case array([Int])
        case dictionary([(key: Int, value: Int)])
    }

    private enum Source {
        case binary(BinaryPropertyList)
        case parsed([Value])
    }

    let root: Int
    private let source: Source

    /// Reads a property list in binary or XML form.
    init(_ bytes: [UInt8]) throws(ArchiveFailure) {
        if bytes.starts(with: BinaryPropertyList.magic) {
            let list = try BinaryPropertyList(bytes)
            (root, source) = (list.root, .binary(list))
        } else {
            let values = try XMLPropertyList.values(of: bytes)
            (root, source) = (values.count - 1, .parsed(values))
        }
    }

    /// - Parameter budget: values that may still be read. Containers also cost their elements,
    ///   strings and data their length.
    func value(at index: Int, budget: inout Int) throws(ArchiveFailure) -> Value {
        let value: Value
        switch source {
        case .binary(let list): value = try list.value(at: index, budget: budget)
        case .parsed(let values): value = values[index]
        }
        switch value {
        case .array(let elements): budget -= elements.count
        case .dictionary(let members): budget -= 2 * members.count
        case .string(let text): budget -= 1 + Self.extra(text.utf8.count)
        case .data(let bytes): budget -= 1 + Self.extra(bytes.count)
        default: budget -= 1
        }
        guard budget >= 0 else { throw Self.overBudget }
        return value
    }

    /// The cost of so many bytes besides the value itself: one more value for each 64.
    static func extra(_ bytes: Int) -> Int { bytes / 64 }

    static let overBudget = ArchiveFailure("reading it takes more values than are allowed")
}
