/// The elements of one JSON array in a window, which begins after the opening bracket.
///
/// It finds each element by matching brackets and strings; the caller checks whether it is JSON.
struct ArrayElements {
    private let window: ByteWindow
    private let whole: String
    private let each: String
    /// The number of elements found so far.
    private(set) var count: Int
    private let before: Int

    /// - Parameters:
    ///   - whole: the array's name in messages: `the FeatureCollection`.
    ///   - each: an element's name in messages: `feature`.
    ///   - before: the number of elements in arrays before this one.
    init(_ window: ByteWindow, of whole: String, each: String, before: Int = 0) {
        (self.window, self.whole, self.each) = (window, whole, each)
        (count, self.before) = (before, before)
    }

    /// The length in bytes of the next element, at the window's beginning, which the caller
    /// consumes; nil at the closing bracket.
    mutating func next() throws(InterchangeError) -> Int? {
        try skipSpace()
        if window.bytes[0] == UInt8(ascii: "]") { return nil }
        if count > before {
            guard window.bytes[0] == UInt8(ascii: ",") else {
                throw InterchangeError("expected ',' or ']' after \(each) \(count)")
            }
            window.consume(1)
            try skipSpace()
        }
        guard !"],}".utf8.contains(window.bytes[0]) else {
            throw InterchangeError("expected \(each) \(count + 1)")
        }
        let bytes = try end(JSONBoundary(), from: 0)
        count += 1
        return bytes
    }

    private func skipSpace() throws(InterchangeError) {
        guard try window.skipSpace() else { throw truncated }
    }

    private var truncated: InterchangeError {
        InterchangeError("\(whole) is truncated after \(each) \(count)")
    }

    /// The offset behind what the boundary looks for, all of which then is in the window.
    func end(_ boundary: JSONBoundary, from start: Int) throws(InterchangeError) -> Int {
        var (boundary, scanned) = (boundary, start)
        while true {
            if let end = boundary.end(in: window.bytes, from: scanned) { return end }
            scanned = max(scanned, window.count)
            switch try window.fill() {
            case .grown: continue
            case .ended: throw truncated
            case .full:
                throw InterchangeError(
                    "\(each) \(count + 1) is longer than \(window.count) bytes")
            }
        }
    }
}
