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

    mutating func sendNext(on connection: Connection) throws {
        let start = next == 0 ? 0 : ends[next - 1]
        let end = ends[next]
        next = next + 1 == ends.count ? 0 : next + 1
        try bytes.withUnsafeBytes {
            try connection.send(UnsafeRawBufferPointer(rebasing: $0[start..<end]))
        }
    }
}
