import Glibc

/// Waits for changes of the files in some folders, as inotify(7) tells of them: a file appears,
/// disappears, is renamed, was written and closed, or has other rights. It tells nothing of what other
/// machines do to a network file system.
public final class FolderChanges: Sendable {
    private let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    /// Whether the system tells of changes in every folder.
    public let areTold: Bool

    /// Changes from now on.
    ///
    /// - Parameter folders: their paths; links are followed.
    public init(in folders: Set<String>) {
        let events =
            IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ATTRIB
        areTold = folders.reduce(into: true) { [descriptor] areTold, folder in
            if inotify_add_watch(descriptor, folder, UInt32(events)) < 0 { areTold = false }
        }
    }

    deinit { close(descriptor) }

    /// Returns when something has changed, at the deadline, or when the wait is interrupted.
    public func wait(until deadline: Deadline, unless interrupt: Interrupt) {
        guard (try? isReady(descriptor, for: POLLIN, until: deadline, unless: interrupt)) == true
        else { return }
        // What has changed is all the same.
        var events = [UInt8](repeating: 0, count: 1 << 12)
        while read(descriptor, &events, events.count) > 0 {}
    }
}
