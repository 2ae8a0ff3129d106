import GeoBucketClient
import Objects
import ServiceDesk
import TestSupport
import Testing
import Wire

/// Who may log in, what a login permits, and for how long.
@Suite struct LoginRules {
    @Test func `A principal makes bucketsPerPrincipal buckets, wherever, and no more`() async throws
    {
        var limits = Self.patient
        limits.bucketsPerPrincipal = 2
        try await Self.with(limits: limits) { guarded in
            let refused = "-32602 INVALID_INPUT_DATA bucket"
            let first = try await guarded.outcomes(
                as: "writer",
                [
                    Self.put("b1"), Self.put("users/alice/b2"), Self.put("b3"), Self.put("b1"),
                    ("object.putMany", #"{"bucket":"groups/drivers/b3","objects":[{},{}]}"#),
                    ("object.create", #"{"bucket":"b3","object":{}}"#),
                ])
            #expect(first == ["accepted", "accepted", refused, "accepted", refused, refused])
            // Those of others, what they share, and what has been deleted do not count.
            let other = try await guarded.outcomes(
                as: "other", [Self.put("b4"), Self.put("b1"), Self.put("b5"), Self.put("b6")])
            #expect(other == ["accepted", "accepted", "accepted", refused])
            let again = try await guarded.outcomes(
                as: "writer",
                [("bucket.delete", #"{"bucket":"b1"}"#), Self.put("b3"), Self.put("b7")])
            #expect(again == ["accepted", "accepted", refused])
        }
    }

    @Test func `auth.login tells the principal and the role`() async throws {
        try await Self.with { guarded in
            let token = guarded.tokens["writer"]!.text
            let text = try await guarded.service.text("auth.login", #"{"token":"\#(token)"}"#)
            #expect(text == #"{"principal":"alice","role":"write"}"#)
        }
    }

    @Test func `Without a login only server.ping, server.info and auth.login are answered`()
        async throws
    {
        try await Self.with { guarded in
            let open = [("server.ping", "{}"), ("server.info", "{}")]
            #expect(try await guarded.outcomes(as: nil, open) == ["accepted", "accepted"])
            // Params that make no sense are not discussed with strangers.
            var closed = [("server.ping", #"{"x":1}"#)]
            for method in MethodName.allCases {
                if case .service = Self.subject(method) { continue }
                closed.append(("\(method.text)", "{}"))
            }
            for (method, more, _) in Self.bucketMethods {
                closed.append((method, #"{"bucket":"shops"\#(more)}"#))
            }
            let outcomes = try await guarded.outcomes(as: nil, closed)
            for (call, outcome) in zip(closed, outcomes) {
                #expect(outcome == "1401 UNAUTHORIZED", "\(call)")
            }
            let login = try await guarded.outcomes(as: nil, [("auth.login", "{}")])
            #expect(login == ["-32602 INVALID_INPUT_DATA token"])
        }
    }

    @Test func `What methods there are is told after a login; what is no request, to everybody`()
        async throws
    {
        try await Self.with { guarded in
            let unknown = [("no.method", "{}"), ("", "{}")]
            let strangers = try await guarded.outcomes(as: nil, unknown)
            #expect(strangers == ["1401 UNAUTHORIZED", "1401 UNAUTHORIZED"])
            let readers = try await guarded.outcomes(as: "reader", unknown)
            #expect(readers == ["-32601 METHOD_NOT_FOUND", "-32601 METHOD_NOT_FOUND"])
            try RawConnection.with(port: guarded.service.port) { raw in
                for (line, code) in [
                    ("{", "-32700 INVALID_JSON id null"), ("1", "-32600 INVALID_REQUEST id null"),
                    (#"{"id":1,"method":"no.method"}"#, "-32600 INVALID_REQUEST id 1"),
                    (
                        #"{"jsonrpc":"2.0","id":1,"method":"no.method"}"#,
                        "1401 UNAUTHORIZED id 1"
                    ),
                ] {
                    try raw.send(line + "\n")
                    #expect(try FramingRules.code(try raw.line()) == code, "\(line)")
                }
            }
        }
    }

    @Test func `A token that nobody has is wrong, and leaves the connection what it was`()
        async throws
    {
        try await Self.with { guarded in
            let right = guarded.tokens["reader"]!.text
            let wrong = [
                "", "x", "gbt_", "gbt__", "gbt_000000000000_" + right.suffix(43), right + "x",
                String(right.dropLast()), right.uppercased(), String(repeating: "a", count: 10_000),
            ].map { ("auth.login", #"{"token":"\#($0)"}"#) }
            for name in [nil, "reader"] {
                let first = try await guarded.outcomes(as: name, wrong[..<4] + [Self.get("shops")])
                #expect(
                    first.dropLast() == Array(repeating: "1401 WRONG_TOKEN token", count: 4)[...])
                #expect(first.last == (name == nil ? "1401 UNAUTHORIZED" : "1404 OBJECT_NOT_FOUND"))
            }
        }
        try await Self.with { guarded in
            let void = guarded.tokens["void"]!.text
            let calls = [("auth.login", #"{"token":"\#(void)"}"#)]
            let outcomes = try await guarded.outcomes(as: nil, calls)
            #expect(outcomes == ["1401 WRONG_TOKEN token"])
        }
    }

    @Test func `A service without tokens knows none`() async throws {
        try await TestService.with { service in
            let login = try await service.outcome("auth.login", #"{"token":"x"}"#)
            #expect(login == "WRONG_TOKEN token")
            let get = try await service.outcome("object.get", #"{"bucket":"b1","id":"o1"}"#)
            #expect(get == "OBJECT_NOT_FOUND")
        }
    }

    @Test func `A reader reads, a writer writes, an administrator sees the statistics`()
        async throws
    {
        try await Self.with { guarded in
            for (method, more, writes) in Self.bucketMethods {
                let call = [(method, #"{"bucket":"shops"\#(more)}"#)]
                let reader = try await guarded.outcomes(as: "reader", call)[0]
                #expect((reader == "1403 OPERATION_NOT_ALLOWED") == writes, "\(method): \(reader)")
                let writer = try await guarded.outcomes(as: "writer", call)[0]
                #expect(!writer.hasPrefix("1403"), "\(method): \(writer)")
            }
            // A cluster refuses a backup to everybody.
            let whole =
                [("server.stats", "{}"), ("store.check", "{}")]
                + (BackendKind.usualHasFile ? [("store.backup", "{}")] : [])
            for (name, outcome) in [
                ("reader", "1403 OPERATION_NOT_ALLOWED"), ("writer", "1403 OPERATION_NOT_ALLOWED"),
                ("admin", "accepted"), ("bound", "1403 OPERATION_NOT_ALLOWED"),
            ] {
                let outcomes = try await guarded.outcomes(as: name, whole)
                #expect(outcomes == Array(repeating: outcome, count: whole.count), "\(name)")
            }
        }
    }

    @Test func `A token may have a role for each bucket: to read, to add, to change, to delete`()
        async throws
    {
        let id = #""id":"o1""#
        /// By the role that each needs.
        let calls: [(role: Grant.Role, method: String, more: String)] = [
            (.read, "object.get", id), (.read, "bucket.count", #""bucketQuery":{}"#),
            (.append, "object.create", #""object":{}"#),
            (
                .append, "object.put",
                #""id":"new","object":{},"ifAbsent":true,"expiresAt":99999999999999"#
            ),
            (.append, "object.putMany", #""objects":[{"n":1},{"n":2}]"#),
            (.edit, "object.put", id + #","object":{}"#),
            (.edit, "object.put", id + #","object":{},"ifVersion":99"#),
            (.edit, "object.patch", id + #","object":{"n":2}"#),
            (.edit, "object.putMany", #""objects":[{"n":1},{"_id":"o1"}]"#),
            (.write, "object.put", id + #","object":{},"expiresAt":99999999999999"#),
            (.write, "object.patch", id + #","object":{},"expiresAt":99999999999999"#),
            (.write, "object.delete", id), (.write, "bucket.deleteWhere", #""bucketQuery":{}"#),
            (.write, "bucket.deleteWhere", #""bucketQuery":{},"dryRun":true"#),
            (.write, "bucket.delete", #""requestKey":"k1""#),
        ]
        let buckets: [(name: String, role: Grant.Role?)] = [
            ("shops", .read), ("sales-2026", .append), ("sales-open", .edit),
            ("users/tina/notes", .write), ("stores", nil), ("users/alice/notes", nil),
        ]
        try await Self.with { guarded in
            for (bucket, role) in buckets {
                _ = try await guarded.outcomes(as: "admin", [Self.put(bucket)])
                for call in calls {
                    let params = #"{"bucket":"\#(bucket)",\#(call.more)}"#
                    let outcome = try await guarded.outcomes(as: "till", [(call.method, params)])[0]
                    let isPermitted = role.map { $0 >= call.role } ?? false
                    #expect(
                        outcome.hasPrefix("1403 OPERATION_NOT_ALLOWED") != isPermitted,
                        "\(call) in \(bucket): \(outcome)")
                }
            }
            let whole = try await guarded.outcomes(as: "till", [("server.stats", "{}")])
            #expect(whole == ["1403 OPERATION_NOT_ALLOWED"])
            let login = #"{"token":"\#(guarded.tokens["till"]!.text)"}"#
            let told = try await guarded.service.text("auth.login", login)
            #expect(told == #"{"principal":"tina","role":"write"}"#)
            let list = try await guarded.service.text("bucket.list", "{}")
            #expect(list.contains("sales-2026") && !list.contains("stores"), "\(list)")
        }
    }

    @Test func `A requestKey is its principal's own`() async throws {
        let put = #"{"bucket":"shops","id":"o1","object":{},"requestKey":"k1"}"#
        try await Self.with { guarded in
            for (name, version) in [("writer", 1), ("writer", 1), ("other", 2), ("other", 2)] {
                try await LineConnection.with(host: "127.0.0.1", port: guarded.service.port) {
                    try await $0.logIn(token: guarded.tokens[name]!.text)
                    let answer = try await $0.call("object.put", Array(put.utf8))
                    #expect(try JSONValue(parsing: answer)["_version"]?.int == version, "\(name)")
                }
            }
        }
    }

    @Test
    func `A user's buckets are that user's, a group's its members', and all the administrators'`()
        async throws
    {
        let no = "1403 OPERATION_NOT_ALLOWED bucket"
        try await Self.with { guarded in
            for (bucket, may) in [
                ("users/alice/notes", ["writer", "admin", "bound"]),
                ("users/bob/notes", ["other", "admin"]),
                ("groups/drivers/trips", ["writer", "admin"]), ("groups/cooks/menus", ["admin"]),
                ("things/door/events", ["writer", "other", "admin"]),
                ("shops", ["writer", "other", "admin", "narrow"]),
                ("users/nina/notes", ["narrow", "admin"]),
                ("stores", ["writer", "other", "admin"]),
            ] {
                for name in ["writer", "other", "narrow", "admin", "bound"] {
                    for call in [Self.put(bucket), Self.get(bucket)] {
                        let outcome = try await guarded.outcomes(as: name, [call])[0]
                        if may.contains(name) {
                            #expect(!outcome.hasPrefix("1403"), "\(name) \(call)")
                        } else {
                            #expect(outcome == no, "\(name) \(call)")
                        }
                    }
                }
            }
        }
    }

    @Test func `bucket.list shows what is within reach`() async throws {
        try await Self.with { guarded in
            let buckets = ["shops", "stores", "users/alice/notes", "users/nina/notes"]
            let outcomes = try await guarded.outcomes(as: "admin", buckets.map(Self.put))
            #expect(outcomes == Array(repeating: "accepted", count: 4))
            for (name, scope, found) in [
                ("writer", nil, ["shops", "stores"]), ("narrow", nil, ["shops"]),
                ("writer", "users/alice", ["users/alice/notes"]),
                ("narrow", "users/nina", ["users/nina/notes"]),
                ("other", "users/alice", nil), ("other", "groups/drivers", nil),
                ("writer", "groups/drivers", []), ("admin", "users/nobody", []),
                ("admin", "users/alice", ["users/alice/notes"]),
                // Where a token is bound elsewhere, nothing is within reach.
                ("narrow", "groups/drivers", nil), ("narrow", "things/door", nil),
                ("bound", "users/alice", ["users/alice/notes"]), ("bound", "users/nina", nil),
                ("bound", nil, []),
            ] as [(String, String?, [String]?)] {
                try await LineConnection.with(host: "127.0.0.1", port: guarded.service.port) {
                    try await $0.logIn(token: guarded.tokens[name]!.text)
                    let params = Array((scope.map { #"{"scope":"\#($0)"}"# } ?? "{}").utf8)
                    do {
                        let list = try JSONValue(parsing: try await $0.call("bucket.list", params))
                        #expect(
                            list["buckets"]?.array?.compactMap { $0["bucket"]?.string } == found,
                            "\(name)")
                    } catch ClientFailure.refused(let failure) {
                        #expect(
                            found == nil && failure.errorCode == "OPERATION_NOT_ALLOWED", "\(name)")
                        #expect(failure.path == "scope")
                    }
                }
            }
        }
    }

    @Test func `What is created belongs to who created it, whoever changes it`() async throws {
        try await Self.with { guarded in
            let many =
                #"{"bucket":"shops","objects":[{"_id":"o2","_owner":"mallory"},{"_id":"o3"}]}"#
            #expect(
                try await guarded.outcomes(
                    as: "writer", [Self.put("shops"), ("object.putMany", many)])
                    == ["accepted", "accepted"])
            let patch = #"{"bucket":"shops","id":"o2","object":{"n":2,"_owner":"bob"}}"#
            #expect(
                try await guarded.outcomes(
                    as: "other", [Self.put("shops"), ("object.patch", patch)])
                    == ["accepted", "accepted"])
            try await guarded.service.connection.logIn(token: guarded.tokens["reader"]!.text)
            for id in ["o1", "o2", "o3"] {
                #expect(
                    try await guarded.service.get(id, in: "shops")["_owner"] == .string("alice"))
            }
            let mine = #"{"type":"eq","field":"_owner","value":"alice"}"#
            #expect(try await guarded.service.ids(mine, in: "shops") == ["o1", "o2", "o3"])
        }
    }

    @Test func `Without tokens what is created belongs to nobody`() async throws {
        try await TestService.with { service in
            _ = try await service.put("o1", #"{"_owner":"mallory"}"#)
            #expect(try await service.get("o1").names.contains("_owner") == false)
        }
    }

    @Test
    func `A login counts for the requests behind it in the same segment, batches and writes too`()
        async throws
    {
        try await Self.with { guarded in
            func line(_ id: Int, _ call: (method: String, params: String)) -> String {
                #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(call.method)","params":\#(call.params)}"#
            }
            func login(_ name: String) -> (method: String, params: String) {
                ("auth.login", #"{"token":"\#(guarded.tokens[name]!.text)"}"#)
            }
            try RawConnection.with(port: guarded.service.port) { raw in
                let lines = [
                    line(1, Self.put("shops")), line(2, login("writer")),
                    line(3, Self.put("shops")),
                    line(4, Self.put("users/bob/x1")), line(5, Self.put("shops")),
                    "["
                        + [
                            line(6, login("reader")), line(7, Self.put("shops")),
                            line(8, Self.get("shops")),
                        ]
                        .joined(separator: ",") + "]",
                    line(9, login("other")), line(10, Self.put("users/bob/x1")),
                ]
                try raw.send(lines.joined(separator: "\n") + "\n")
                var told: [String] = []
                for _ in lines {
                    let answer = try JSONValue(parsing: try #require(try raw.line()))
                    for one in answer.array ?? [answer] {
                        let error = one["error"]?["data"]?["errorCode"]?.string
                        told.append("\(one["id"]?.int ?? 0) \(error ?? "ok")")
                    }
                }
                #expect(
                    told == [
                        "1 UNAUTHORIZED", "2 ok", "3 ok", "4 OPERATION_NOT_ALLOWED", "5 ok", "6 ok",
                        "7 OPERATION_NOT_ALLOWED", "8 ok", "9 ok", "10 ok",
                    ])
            }
        }
    }

    @Test func `A change of the tokens counts at once on connections that are logged in`()
        async throws
    {
        try await Self.with { guarded in
            let tokens = guarded.tokens
            try await LineConnection.with(host: "127.0.0.1", port: guarded.service.port) {
                connection in
                try await connection.logIn(token: tokens["writer"]!.text)
                let put = Self.put("shops")
                func outcome() async throws -> String {
                    try await Self.outcome(connection, put.method, put.params)
                }
                #expect(try await outcome() == "accepted")
                var grants = Self.grants
                grants["writer"] = try Grant(
                    principal: "alice", role: .read, groups: ["drivers"])
                guarded.access.replace(Self.file(tokens, grants))
                #expect(try await outcome() == "1403 OPERATION_NOT_ALLOWED")
                grants["writer"] = nil
                guarded.access.replace(Self.file(tokens, grants))
                #expect(try await outcome() == "1401 UNAUTHORIZED")
                guarded.access.replace(Self.file(tokens, Self.grants))
                #expect(try await outcome() == "1401 UNAUTHORIZED")
                try await connection.logIn(token: tokens["writer"]!.text)
                #expect(try await outcome() == "accepted")
            }
        }
    }
}
