import Glibc

/// Blocks the calling thread for a time.
public func pause(_ time: Duration) {
    usleep(UInt32(clamping: Int(time / .microseconds(1))))
}
