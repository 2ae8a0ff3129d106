import Glibc

/// Files under construction, which a signal that ends the process removes.
enum Unfinished {
    /// For a handler of signals, which must not allocate; set before there is one, and never freed.
    nonisolated(unsafe) private static var paths: [UnsafeMutablePointer<CChar>] = []

    /// Makes SIGINT, SIGTERM and SIGHUP remove these files and then end the process as they usually
    /// do. A signal that the process ignores, as under nohup(1), stays ignored.
    static func removeAtSignals(_ files: [String]) {
        paths = files.compactMap { strdup($0) }
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let earlier = signal(number) { number in
                for path in Unfinished.paths { unlink(path) }
                signal(number, SIG_DFL)
                raise(number)  // takes effect when this handler returns
            }
            if unsafeBitCast(earlier, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                signal(number, SIG_IGN)
            }
        }
    }
}
