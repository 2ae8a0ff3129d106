import BackendContract
import JSONText
import Objects

/// Tells which nodes are to hold a bucket, so that a client may ask them directly.
final class RouteBucket: Read {
    let seesObjects = false
    private let bucket: BucketName

    init(_ params: inout Params) throws(ServiceFailure) { bucket = try params.bucket() }

    func run(_ context: ReadContext, into writer: inout JSONWriter) {
        writer.raw("{\"nodes\":")
        let placement = context.service.placement
        writer.addresses(
            of: placement.map { Array($0.nodes(for: bucket).prefix($0.copies)) } ?? [])
        writer.byte(UInt8(ascii: "}"))
    }
}

extension JSONWriter {
    /// Appends the addresses of nodes for clients, as an array.
    mutating func addresses(of nodes: [ClusterNode]) {
        byte(UInt8(ascii: "["))
        // A node that has just started has no address yet.
        list(nodes.map(\.clientAddress).filter { !$0.isEmpty }) { $1.string($0) }
        byte(UInt8(ascii: "]"))
    }
}
