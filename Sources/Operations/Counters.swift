import Glibc
import JSONText
import Synchronization

/// What the service has done since it started, by method.
public final class Counters: Sendable {
    private final class Method: Sendable {
        let name: String
        let requests = Atomic<Int>(0)
        let errors = Atomic<Int>(0)

        init(name: String) { self.name = name }
    }

    private let methods: [Method]
    /// Lines and requests that name no method of ours.
    private let unknown = Method(name: "other")
    private let open = Atomic<Int>(0)
    private let accepted = Atomic<Int>(0)
    private let refused = Atomic<Int>(0)

    init(methodNames: [String]) { methods = methodNames.map(Method.init) }

    /// Counts one answered request, under the place of its method in the list of names.
    public func count(method: Int?, failed: Bool) {
        let counter = method.map { methods[$0] } ?? unknown
        counter.requests.add(1, ordering: .relaxed)
        if failed { counter.errors.add(1, ordering: .relaxed) }
    }

    /// Counts a new connection, unless as many as may be are open: then it is to be refused.
    public func admitConnection(limit: Int) -> Bool {
        guard open.add(1, ordering: .relaxed).newValue <= limit else {
            open.subtract(1, ordering: .relaxed)
            refused.add(1, ordering: .relaxed)
            return false
        }
        accepted.add(1, ordering: .relaxed)
        return true
    }

    public func connectionClosed() { open.subtract(1, ordering: .relaxed) }

    func write(to writer: inout JSONWriter) {
        writer.raw(",\"connections\":{\"open\":")
        writer.integer(open.load(ordering: .relaxed))
        writer.key("accepted")
        writer.integer(accepted.load(ordering: .relaxed))
        writer.key("refused")
        writer.integer(refused.load(ordering: .relaxed))
        writer.raw("},\"requests\":{")
        writer.list(methods + [unknown]) { method, writer in
            writer.string(method.name)
            writer.raw(":{\"count\":")
            writer.integer(method.requests.load(ordering: .relaxed))
            writer.key("errors")
            writer.integer(method.errors.load(ordering: .relaxed))
            writer.byte(UInt8(ascii: "}"))
        }
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Bytes of the process that are in memory, as Linux tells; 0 where it does not.
func residentBytes() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * sysconf(Int32(_SC_PAGESIZE))
}
