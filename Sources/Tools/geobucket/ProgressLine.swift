import Objects
import Synchronization

/// One line of standard error that is rewritten in place, on a terminal only.
struct ProgressLine {
    private let isShown = Console.errorIsTerminal
    private let start = ContinuousClock.now
    private var lastShown = ContinuousClock.now
    private var isVisible = false
    private var calls = 0

    /// Shows the progress, a few times a second.
    mutating func show(_ objects: Int, _ bytes: @autoclosure () -> Int, _ total: Int?) {
        guard isShown else { return }
        calls += 1
        guard calls & 255 == 0 else { return }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        show(Self.text(objects, bytes(), of: total, seconds: seconds))
    }

    /// `1200 objects (400 a second), 60 %, 2 s left`; of a source of unknown size without the rest.
    static func text(_ objects: Int, _ bytes: Int, of total: Int?, seconds: Double) -> String {
        let rate = seconds > 0 ? " (\(Int(Double(objects) / seconds)) a second)" : ""
        guard let total, total > 0 else { return "\(counted(objects, "object"))\(rate)" }
        let share = min(Double(bytes) / Double(total), 1)
        let rest = share > 0 ? seconds * (1 - share) / share : 0
        return "\(counted(objects, "object"))\(rate), \(Int(share * 100)) %, \(time(rest)) left"
    }

    /// `12 s`, `3 min 5 s`, `2 h 10 min`.
    private static func time(_ seconds: Double) -> String {
        let seconds = Int(seconds.rounded())
        let (minutes, hours) = (seconds / 60, seconds / 3_600)
        if hours > 0 { return "\(hours) h \(minutes % 60) min" }
        return minutes > 0 ? "\(minutes) min \(seconds % 60) s" : "\(seconds) s"
    }

    /// Shows a text, a few times a second.
    mutating func show(_ text: @autoclosure () -> String) {
        guard isShown, ContinuousClock.now - lastShown > .milliseconds(200) else { return }
        lastShown = .now
        Console.status("\r\u{1B}[K\(text())")
        isVisible = true
    }

    mutating func clear() {
        guard isVisible else { return }
        Console.status("\r\u{1B}[K")
        isVisible = false
    }
}

/// The progress of a node that copies its store, on any thread.
final class CopyProgress: Sendable {
    private let line = Mutex(ProgressLine())

    func show(_ objects: Int) { line.withLock { $0.show("\(counted(objects, "object")) copied") } }

    func clear() { line.withLock { $0.clear() } }
}
