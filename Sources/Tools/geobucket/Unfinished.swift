import Glibc

/// Files under construction, which a signal that ends the process removes.
enum Unfinished {
    /// For a handler of signals, which must not allocate: ends with nil, set before there is a
    /// handler, and never freed.
    nonisolated(unsafe) private static var paths: Paths?

    private typealias Paths = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// Makes SIGINT, SIGTERM and SIGHUP remove these files and then end the process as they usually
    /// do. A signal that the process ignores, as under nohup(1), stays ignored.
    static func removeAtSignals(_ files: [String]) {
        let list = Paths.allocate(capacity: files.count + 1)
        for (number, file) in files.enumerated() { list[number] = strdup(file) }
        list[files.count] = nil
        paths = list
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let earlier = signal(number) { number in
                var next = Unfinished.paths
                while let path = next?.pointee {
                    unlink(path)
                    next! += 1
                }
                signal(number, SIG_DFL)
                raise(number)  // takes effect when this handler returns
            }
            if unsafeBitCast(earlier, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                signal(number, SIG_IGN)
            }
        }
    }
}
