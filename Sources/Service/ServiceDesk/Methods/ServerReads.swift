import BackendContract
import JSONText
import Objects

/// Describes the service and its limits.
final class ServerInfo: Read {
    let seesObjects = false

    func run(_ context: ReadContext, into writer: inout JSONWriter) {
        writer.raw("{\"name\":\"geobucket\",\"version\":")
        writer.string(QueryService.version)
        writer.key("protocol")
        writer.integer(QueryService.protocolVersion)
        writer.key("store")
        writer.string(context.backend.storeName)
        // Strangers learn nothing of the network behind the address that they know.
        let isKnown = !context.service.requiresLogin || context.service.isLoggedIn(context.caller)
        if let placement = context.service.placement, isKnown {
            writer.key("nodes")
            writer.addresses(of: placement.nodes)
        }
        writer.raw(",\"limits\":{")
        let limits = context.service.presentLimits
        writer.list(LimitSetting.all.filter(\.isPublished)) { limit, writer in
            writer.string(limit.name)
            writer.byte(UInt8(ascii: ":"))
            writer.integer(limits[keyPath: limit.path])
        }
        writer.raw("}}")
    }
}

/// Answers at once: a health check.
final class Ping: Read {
    let seesObjects = false

    func run(_ context: ReadContext, into writer: inout JSONWriter) {
        writer.raw("\"pong\"")
    }
}

/// Reports the service's counters and sizes.
final class Statistics: Read {
    let seesObjects = false
    private let isOfCluster: Bool

    init(_ params: inout Params) throws(ServiceFailure) {
        isOfCluster = try params.bool("cluster")
    }

    var gathering: Gathering? { isOfCluster ? .each(.statistics) : nil }

    func run(_ context: ReadContext, into writer: inout JSONWriter) {
        let backend = context.backend.statistics()
        writer.raw("{\"uptimeSeconds\":")
        writer.integer(context.service.uptimeSeconds)
        writer.key("cpuSeconds")
        writer.millionths(processorMicroseconds())
        context.service.counters.write(to: &writer)
        writer.key("buckets")
        writer.integer(backend.buckets)
        writer.key("objects")
        writer.integer(backend.objects)
        writer.key("points")
        writer.integer(backend.points)
        writer.key("memory")
        writer.raw("{\"residentBytes\":")
        writer.integer(residentBytes())
        for part in backend.memory.parts {
            writer.key(part.name)
            writer.integer(part.bytes)
        }
        writer.raw("}")
        writer.key("storeBytes")
        writer.integer(backend.storeBytes)
        writer.key("freePages")
        writer.integer(backend.freePages)
        writer.key("scans")
        writer.integer(backend.scans)
        writer.key("change")
        writer.integer(backend.change)
        writer.key("commits")
        writer.integer(backend.commits)
        write("watches", context.service.watches.statistics().parts, to: &writer)
        let quotas = context.service.limits.quotas
        if !quotas.isEmpty {
            writer.key("quotas")
            quotas.write(to: &writer)
        }
        write("host", host(of: context.service, backend), to: &writer)
        if let cluster = backend.cluster {
            var parts = cluster.parts
            if cluster.share != nil {
                parts.append(("passedOnRequests", context.service.counters.passedOn))
            }
            write("cluster", parts, to: &writer)
        }
        writer.byte(UInt8(ascii: "}"))
    }

    private func host(
        of service: QueryService, _ backend: BackendStatistics
    ) -> [(name: StaticString, value: Int)] {
        let host = HostStatistics()
        var parts: [(name: StaticString, value: Int)] = [
            ("time", Int(service.clock.milliseconds())), ("processors", host.processors),
            ("memoryBytes", host.memoryBytes), ("openFiles", host.openFiles),
            ("openFilesLimit", host.openFilesLimit), ("diskBytes", backend.diskBytes),
            ("diskFreeBytes", backend.diskFreeBytes),
        ]
        if let end = service.certificateEnd() { parts.append(("certificateEnd", Int(end))) }
        return parts
    }

    private func write(
        _ name: StaticString, _ parts: [(name: StaticString, value: Int)],
        to writer: inout JSONWriter
    ) {
        writer.key(name)
        writer.byte(UInt8(ascii: "{"))
        writer.list(parts) { part, writer in
            writer.string("\(part.name)")
            writer.byte(UInt8(ascii: ":"))
            writer.integer(part.value)
        }
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Logs the caller in; a failure leaves the present login unchanged.
final class LogIn: Read {
    let seesObjects = false
    private let token: String

    init(_ params: inout Params) throws(ServiceFailure) {
        token = try params.string("token")
        guard token.utf8.count <= params.limits.tokenBytes else {
            throw params.failure("token", "expected at most \(params.limits.tokenBytes) bytes")
        }
    }

    func run(_ context: ReadContext, into writer: inout JSONWriter) throws(ServiceFailure) {
        let grant = try context.service.admission.login(token, context.caller)
        writer.raw("{\"principal\":")
        writer.string(grant.principal)
        writer.key("role")
        writer.string(grant.role.rawValue)
        writer.byte(UInt8(ascii: "}"))
    }
}
