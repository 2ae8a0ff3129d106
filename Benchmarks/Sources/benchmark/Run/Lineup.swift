import Foundation
import SyntheticData
import Workloads

/// Servers with the same objects in them, and the ways to ask them.
final class Lineup {
    let servers: [any Server]
    private(set) var peers: [any Peer] = []
    private(set) var facts: [String: LoadFacts] = [:]
    let geobucket: GeoBucketServer

    /// Starts and loads what the settings name.
    ///
    /// - Parameters:
    ///   - withMade: also the forms that were made for category queries.
    ///   - flags: for `geobucket serve`.
    init(
        _ settings: Settings, _ dataset: Dataset, withMade: Bool, only: Set<String>? = nil,
        flags: [String] = []
    ) throws {
        let workspace = Workspace(folder: settings.scratch, geobucket: settings.geobucket)
        func wants(_ name: String) -> Bool {
            settings.includes(name) && only?.contains(name) ?? true
        }
        geobucket = try GeoBucketServer(workspace, flags: flags)
        var servers: [any Server] = [geobucket]
        if let before = settings.before, only == nil {
            servers.append(try GeoBucketServer(workspace, earlier: before, flags: flags))
        }
        if wants("redis") { servers.append(try RedisServer(workspace)) }
        if wants("postgis") {
            servers.append(try PostgresServer(workspace, withMade: withMade))
        }
        self.servers = servers
        for server in servers {
            progress("loading \(dataset.count) objects (\(dataset.name)) into \(server.name)")
            facts[server.name] = try server.load(dataset)
            peers += try Self.peers(of: server, withMade: withMade)
        }
    }

    func stop() { for server in servers { server.stop() } }

    private static func peers(of server: any Server, withMade: Bool) throws -> [any Peer] {
        let forms = withMade ? [false, true] : [false]
        switch server {
        case let server as RedisServer:
            return try forms.map { try RedisPeer(server, isMade: $0) }
        case let server as PostgresServer:
            return forms.map { PostgresPeer(server, isMade: $0) }
        default: return [GeoBucketPeer(server: server)]
        }
    }

    /// A copy of GeoBucket's store, taken while the service is stopped.
    func copyStore(to path: String) throws {
        geobucket.stop()
        try FileManager.default.copyItem(atPath: geobucket.storePath, toPath: path)
        _ = try geobucket.start()
    }
}
