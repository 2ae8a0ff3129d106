/// Requests encoded before a run, taken one after the other, again from the first after the last.
struct RequestSet {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var next = 0

    init(_ requests: [[UInt8]]) {
        for request in requests {
            bytes += request
            ends.append(bytes.count)
        }
    }

    /// Sends so many requests at once, or those that are left before the first is due again.
    mutating func sendNext(_ count: Int = 1, on connection: Connection) throws {
        let start = next == 0 ? 0 : ends[next - 1]
        let sent = min(count, ends.count - next)
        let end = ends[next + sent - 1]
        next = next + sent == ends.count ? 0 : next + sent
        try bytes.withUnsafeBytes {
            try connection.send(
                UnsafeRawBufferPointer(rebasing: $0[start..<end]), requests: sent)
        }
    }
}
