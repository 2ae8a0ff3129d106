import Glibc
import Synchronization

/// A wish to end, by SIGINT or SIGTERM, that a load follows between two records. A second signal
/// ends the process as it usually does.
enum Interruption {
    private static let isSignalled = Atomic(false)

    static var isRequested: Bool { isSignalled.load(ordering: .relaxed) }

    static func catchSignals() {
        for number in [SIGINT, SIGTERM] {
            signal(number) { number in
                Interruption.isSignalled.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }
}
