import BackendContract
import JSONText
import Objects
import ServiceDesk
import Testing

@testable import QueryServer

/// What becomes of a request, on whichever wire it came: decided without sockets.
struct RequestCourseTests {
    /// A read of objects; or of something else, or of all nodes.
    private final class Probe: Read {
        let seesObjects: Bool
        let gathering: Gathering?

        init(seesObjects: Bool = true, gathering: Gathering? = nil) {
            (self.seesObjects, self.gathering) = (seesObjects, gathering)
        }

        func run(_ context: ReadContext, into writer: inout JSONWriter) {}
    }

    private static func request(_ call: Call) -> ServiceRequest {
        ServiceRequest(id: "1", method: nil, call: call)
    }

    private static let write = Write.deleteBucket(BucketName(trusted: "bb"))

    /// A request for a bucket that another node holds.
    private static var forwardedRequest: ServiceRequest {
        let text = Array(
            #"{"jsonrpc":"2.0","id":1,"method":"object.get","params":{"bucket":"bb","id":"xx"}}"#
                .utf8)
        let forwarded = ForwardedRequest(
            bucket: BucketName(trusted: "bb"), text: text, mayBeRepeated: true)
        let unread = text.withUnsafeBufferPointer {
            RequestParser(limits: Limits()).parse(element: $0)
        }
        return ServiceRequest(forwarding: unread, as: forwarded)
    }

    /// The course in a word.
    private static func course(
        _ request: ServiceRequest, hasNodes: Bool = false, readsAtOnce: Bool = true
    ) -> String {
        let course = request.course(hasNodes: hasNodes) { read, change in
            change == nil && (readsAtOnce || !read.seesObjects)
        }
        return switch course {
        case .write(_, let key): key == nil ? "write" : "write once"
        case .forward(let forwarded): "forward \(forwarded.bucket.text)"
        case .gather(.each(let method)): "gather \(method.text)"
        case .gather(.buckets): "gather buckets"
        case .await(let change): "await \(change.map(String.init) ?? "latest")"
        case .run: "run"
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a failure and a write wait for nobody`(_ hasNodes: Bool, _ readsAtOnce: Bool) {
        let failed = ServiceRequest(id: "1", method: nil, failure: .invalidRequest("no"))
        #expect(Self.course(failed, hasNodes: hasNodes, readsAtOnce: readsAtOnce) == "run")
        let write = Self.request(.write(Self.write, key: nil))
        #expect(Self.course(write, hasNodes: hasNodes, readsAtOnce: readsAtOnce) == "write")
    }

    @Test func `a read waits for the change that it names, and for the latest where it must`() {
        let (read, other) = (Probe(), Probe(seesObjects: false))
        func course(_ read: Probe, _ change: UInt64?, readsAtOnce: Bool) -> String {
            Self.course(
                Self.request(.read(read, atLeast: change)), readsAtOnce: readsAtOnce)
        }
        #expect(course(read, nil, readsAtOnce: true) == "run")
        #expect(course(read, nil, readsAtOnce: false) == "await latest")
        #expect(course(other, nil, readsAtOnce: false) == "run")
        for isAtOnce in [false, true] {
            #expect(course(read, 7, readsAtOnce: isAtOnce) == "await 7")
            #expect(course(other, 7, readsAtOnce: isAtOnce) == "await 7")
        }
    }

    @Test func `only a node that can ask others gathers`() {
        let list = Probe(gathering: .buckets(in: .application, after: nil))
        let info = Probe(seesObjects: false, gathering: .each(.info))
        let (listing, asking) = (
            Self.request(.read(list, atLeast: nil)),
            Self.request(.read(info, atLeast: nil))
        )
        #expect(Self.course(listing, hasNodes: true, readsAtOnce: false) == "gather buckets")
        #expect(Self.course(asking, hasNodes: true) == "gather server.info")
        #expect(Self.course(listing, readsAtOnce: false) == "await latest")
        #expect(Self.course(asking, readsAtOnce: false) == "run")
    }

    @Test func `a request for another node's bucket goes there, and fails where no node is known`()
    {
        let request = Self.forwardedRequest
        #expect(Self.course(request, hasNodes: true, readsAtOnce: false) == "forward bb")
        #expect(Self.course(request, readsAtOnce: false) == "run")
        let failure = #expect(throws: RPCFailure.self) { try request.validCall() }
        #expect(failure?.errorCode == "TEMPORARY_UNAVAILABLE_ERROR")
    }

    @Test func `a refused request runs, which answers it`() {
        let read = Self.request(.read(Probe(), atLeast: 7))
        #expect(Self.course(read.refused(.invalidRequest("no")), hasNodes: true) == "run")
    }
}
