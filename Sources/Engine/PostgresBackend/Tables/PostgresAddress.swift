import CLibpq
import Glibc

/// Where the tables are: libpq's connection string, and a schema in its database.
public struct PostgresAddress: Sendable {
    private let url: String
    /// The schema that contains the tables.
    public let schema: String

    /// - Parameter url: a connection string that begins with `postgresql://` or `postgres://`.
    /// - Throws: `.unusable` if libpq cannot read it, or if the schema's name is no plain name. The
    ///   message contains no part of the string, which may contain a password.
    public init(url: String, schema: String) throws(PostgresFailure) {
        self.url = url
        self.schema = schema
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            PQfreemem(message)
            throw .unusable(
                "the store's URL cannot be read; expected "
                    + "postgresql://USER@HOST:PORT/DATABASE?option=value")
        }
        PQconninfoFree(options)
        let isPlain = schema.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
        }
        guard isPlain, let first = schema.utf8.first, first > 0x39, schema.utf8.count <= 50 else {
            throw .unusable(
                "the schema \"\(schema)\" is no plain name: expected up to 50 letters a-z, digits "
                    + "and _, and no digit first")
        }
    }

    /// Whether a store's name is an address of PostgreSQL and no path.
    public static func isAddress(_ store: String) -> Bool {
        store.hasPrefix("postgresql://") || store.hasPrefix("postgres://")
    }

    /// The channel on which the nodes tell each other of changes.
    var channel: String { "\(schema)_head" }

    /// The address without user, password and options, for logs.
    public var summary: String {
        let parts = parts
        let host = parts["host"] ?? parts["hostaddr"] ?? "the local socket"
        return "\(parts["dbname"] ?? "the default database") at \(host)"
            + (parts["port"].map { ":\($0)" } ?? "")
    }

    /// The options of the URL by keyword.
    private var parts: [String: String] {
        var parts: [String: String] = [:]
        if let options = PQconninfoParse(url, nil) {
            defer { PQconninfoFree(options) }
            var option = options
            while let keyword = option.pointee.keyword {
                if let value = option.pointee.val {
                    parts[String(cString: keyword)] = String(cString: value)
                }
                option += 1
            }
        }
        return parts
    }

    /// For each server of the URL the options that name it alone. Options that the URL lacks are
    /// left to libpq.
    var servers: [[(keyword: String, value: String)]] {
        let parts = parts
        let lists = ["host", "hostaddr", "port"].compactMap { keyword in
            parts[keyword].map {
                (keyword, $0.split(separator: ",", omittingEmptySubsequences: false))
            }
        }
        let count = lists.map(\.1.count).max() ?? 1
        return (0..<count).map { number in
            // One port may be that of all servers.
            lists.map { ($0, String($1.count == 1 ? $1[0] : $1[min(number, $1.count - 1)])) }
        }
    }

    /// Connects to the first server that accepts and takes writes; the caller owns the result, or
    /// gets nil and the reason of each server.
    ///
    /// libpq alone would not turn to the next server if one accepts the connection and then ends
    /// it, as a proxy does whose own server is down.
    func connect() -> (OpaquePointer?, reasons: String) {
        var reasons = ""
        for server in servers {
            guard let handle = connect(to: server, by: PQconnectdbParams) else {
                return (nil, "out of memory")
            }
            if PQstatus(handle) == CONNECTION_OK { return (handle, "") }
            reasons += PQerrorMessage(handle).map { String(cString: $0) } ?? ""
            PQfinish(handle)
        }
        return (nil, reasons)
    }

    /// A function of libpq that connects to a server.
    typealias Connecting = (
        UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<UnsafePointer<CChar>?>?, Int32
    ) -> OpaquePointer?

    /// Options of the URL take precedence over these, except the last.
    func connect(
        to server: [(keyword: String, value: String)], by connecting: Connecting
    ) -> OpaquePointer? {
        let options: [(keyword: String, value: String)] = [
            ("connect_timeout", "3"), ("application_name", "geobucket"), ("keepalives_idle", "5"),
            ("keepalives_interval", "2"), ("keepalives_count", "3"),
            ("target_session_attrs", "read-write"), ("dbname", url), ("client_encoding", "UTF8"),
        ]
        let all = options + server
        return Self.withStrings(all.map(\.keyword)) { keywords in
            Self.withStrings(all.map(\.value)) { values in connecting(keywords, values, 1) }
        }
    }

    private static func withStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
        return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}
