import CSimdjson

/// A valid JSON text without its insignificant white space; everything else stays as it was
/// spelled.
public func minifiedJSON(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    guard let base = text.baseAddress else { return [] }
    return withUnsafeTemporaryAllocation(
        of: UInt8.self, capacity: text.count + Int(gb_json_minify_slack)
    ) { buffer in
        let count = gb_json_minify(base, text.count, buffer.baseAddress!)
        return [UInt8](UnsafeBufferPointer(rebasing: buffer[..<count]))
    }
}
