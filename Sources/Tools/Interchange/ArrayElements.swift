/// The elements of one JSON array in a window, which begins behind the opening bracket.
///
/// Each is found by following its brackets and strings; whether it is JSON is for others to say.
struct ArrayElements {
    private let window: ByteWindow
    private let whole: String
    private let each: String
    /// Elements found so far.
    private(set) var count: Int
    private let before: Int

    /// - Parameters:
    ///   - whole: what the array is called in messages: `the FeatureCollection`.
    ///   - each: what one of its elements is called: `feature`.
    ///   - before: elements found in arrays before this one.
    init(_ window: ByteWindow, of whole: String, each: String, before: Int = 0) {
        self.window = window
        self.whole = whole
        self.each = each
        count = before
        self.before = before
    }

    /// How many bytes at the window's beginning are the next element, which the caller consumes; nil
    /// when the closing bracket stands there.
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
        guard ![UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: "}")].contains(window.bytes[0])
        else { throw InterchangeError("expected \(each) \(count + 1)") }
        let bytes = try extent { $0.end(of: 0) }
        count += 1
        return bytes
    }

    private func skipSpace() throws(InterchangeError) {
        window.consume(try extent { $0.skipSpace(from: 0) })
    }

    /// What the boundary finds in the window, which is filled until it does.
    func extent(
        _ find: (JSONBoundary) -> Int?
    ) throws(InterchangeError) -> Int {
        while true {
            if window.count > 0, let found = find(JSONBoundary(bytes: window.bytes)) {
                return found
            }
            switch try window.fill() {
            case .grown: continue
            case .ended: throw InterchangeError("\(whole) is truncated after \(each) \(count)")
            case .full:
                throw InterchangeError(
                    "\(each) \(count + 1) is longer than \(window.count) bytes")
            }
        }
    }
}
