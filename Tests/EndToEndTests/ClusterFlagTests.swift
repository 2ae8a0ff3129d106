import Foundation
import GeoBucketClient
import Objects
import Runtime
import TestSupport
import Testing

@testable import geobucket

/// What the flags of `serve` for a store in PostgreSQL make of it, and of the node's addresses.
@Suite struct ClusterFlagTests {
    private static let store = "postgresql://geo@db.example.com/places"
    private static let token = "0123456789abcdef"

    private static func refusal(
        _ flags: [String], _ body: (ClusterFlags, Settings) throws -> Void
    ) async -> String? {
        do {
            try body(try ClusterFlags.parse(flags), try await Settings(file: nil))
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: ["./geobucket.sqlite", "/var/lib/x", "postgresql", "postgresql:/x", ""])
    func `A store that is no address of PostgreSQL is a file`(_ store: String) async throws {
        let settings = try await Settings(file: nil)
        #expect(try ClusterFlags.parse([]).configuration(of: store, settings) == nil)
        #expect(
            try ClusterFlags.parse(["--copies", "0"]).configuration(of: store, settings) == nil)
    }

    @Test(arguments: [
        (["--cache", "x"], "--cache needs a --store in PostgreSQL"),
        (["--reads", "local"], "--reads needs"), (["--postgres-schema", "s"], "--postgres-schema"),
        (["--copies", "2"], "--copies needs"),
        (["--postgres-geometry"], "--postgres-geometry needs"),
    ])
    func `A flag for PostgreSQL is refused with a store that is a file`(
        _ flags: [String], _ words: String
    ) async {
        let refusal = await Self.refusal(flags) { flags, settings in
            _ = try flags.configuration(of: "./geobucket.sqlite", settings)
        }
        #expect(refusal?.contains(words) == true, "\(refusal ?? "accepted")")
    }

    @Test(arguments: ["mysql://h/d", "POSTGRESQL://h/d", "https://h"])
    func `An address of another database is no file`(_ store: String) async {
        let refusal = await Self.refusal([]) { flags, settings in
            _ = try flags.configuration(of: store, settings)
        }
        #expect(refusal?.contains("begins with postgresql://") == true, "\(refusal ?? "accepted")")
    }

    @Test func `A store in PostgreSQL has the defaults of the manual`() async throws {
        let settings = try await Settings(file: nil)
        for store in [Self.store, "postgres://h/d"] {
            let found = try ClusterFlags.parse([]).configuration(of: store, settings)
            let configuration = try #require(found)
            #expect(configuration.cache == "./geobucket-cache.sqlite")
            #expect(configuration.reads == .latest && configuration.copies == 0)
            #expect(!configuration.keepsGeometry && configuration.address.schema == "geobucket")
        }
    }

    @Test func `Each flag of a store in PostgreSQL is taken up`() async throws {
        let flags = try ClusterFlags.parse([
            "--cache", "/c", "--reads", "local", "--postgres-schema", "s_1", "--copies", "1000",
            "--postgres-geometry",
        ])
        let found = try flags.configuration(of: Self.store, try await Settings(file: nil))
        let configuration = try #require(found)
        #expect(configuration.cache == "/c" && configuration.reads == .local)
        #expect(configuration.address.schema == "s_1" && configuration.copies == 1_000)
        #expect(configuration.keepsGeometry)
    }

    @Test(arguments: [
        (["--reads", "newest"], "--reads: \"newest\" is neither latest nor local"),
        (["--copies=-1"], "--copies has to be 0 to 1000"),
        (["--copies", "1001"], "--copies has to be 0 to 1000"),
        (["--postgres-schema", "Geo"], "no plain name"),
        (["--postgres-schema", ""], "no plain name"),
    ])
    func `A value of a flag that makes no sense is refused`(
        _ flags: [String], _ words: String
    ) async {
        let refusal = await Self.refusal(flags) { flags, settings in
            _ = try flags.configuration(of: Self.store, settings)
        }
        #expect(refusal?.contains(words) == true, "\(refusal ?? "accepted")")
    }

    @Test func `An address that cannot be read is refused, and its password is not told`() async {
        let refusal = await Self.refusal([]) { flags, settings in
            _ = try flags.configuration(of: "postgresql://u:secret@h:port/d?x=y", settings)
        }
        #expect(refusal?.contains("cannot be read") == true && refusal?.contains("secret") == false)
    }

    // MARK: Nodes that hold a part

    @Test(arguments: [
        (["--cluster-token", token], "--cluster-token needs --copies"),
        (["--advertise", "h:1"], "--advertise needs --copies"),
        (["--advertise-to-nodes", "h:1"], "--advertise-to-nodes needs --copies"),
        (["--cluster-ca", "/x"], "--cluster-ca needs --copies"),
        (["--copies", "0", "--advertise", "h:1"], "--advertise needs --copies"),
        (["--copies", "2"], "--copies needs a --cluster-token"),
        (["--copies", "2", "--cluster-token", String(token.dropLast())], "at least 16 bytes"),
        (
            ["--copies", "2", "--cluster-token", token, "--advertise", "h"],
            "--advertise: \"h\" is no"
        ),
        (
            ["--copies", "2", "--cluster-token", token, "--advertise-to-nodes", "h:x"],
            "--advertise-to-nodes: \"h:x\" is no HOST:PORT"
        ),
    ])
    func `What a node cannot tell the others is refused`(_ flags: [String], _ words: String) async {
        let refusal = await Self.refusal(flags) { flags, settings in
            _ = try flags.neighbourhood(settings)
        }
        #expect(refusal?.contains(words) == true, "\(refusal ?? "accepted")")
    }

    private static func neighbourhood(_ flags: String...) async throws -> Neighbourhood {
        let flags = ["--copies", "2", "--cluster-token", token] + flags
        let settings = try await Settings(file: nil)
        return try #require(try ClusterFlags.parse(flags).neighbourhood(settings))
    }

    @Test func `A node tells where it listens, unless --advertise says where it is reached`()
        async throws
    {
        let bound = Address(host: "10.0.0.7", port: 4_362)
        let plain = try await Self.neighbourhood().addresses(listeningOn: bound)
        #expect(plain == ("10.0.0.7:4362", "10.0.0.7:4362"))
        let told = try await Self.neighbourhood("--advertise", "geo.example.com:9")
        #expect(told.addresses(listeningOn: bound) == ("geo.example.com:9", "geo.example.com:9"))
        let inner = try await Self.neighbourhood("--advertise-to-nodes", "[fd00::7]:8")
        #expect(inner.addresses(listeningOn: bound) == ("10.0.0.7:4362", "[fd00::7]:8"))
        let both = try await Self.neighbourhood(
            "--advertise", "geo.example.com:9", "--advertise-to-nodes", "n7:8")
        #expect(both.addresses(listeningOn: bound) == ("geo.example.com:9", "n7:8"))
    }

    @Test(arguments: ["0.0.0.0", "::"])
    func `A node that listens on all addresses is reached by the machine's name`(_ host: String)
        async throws
    {
        let bound = Address(host: host, port: 4_362)
        let own = "\(Address(host: ProcessInfo.processInfo.hostName, port: 4_362))"
        #expect(try await Self.neighbourhood().addresses(listeningOn: bound) == (own, own))
        let inner = try await Self.neighbourhood("--advertise-to-nodes", "n7:8")
        #expect(inner.addresses(listeningOn: bound) == (own, "n7:8"))
    }
}
