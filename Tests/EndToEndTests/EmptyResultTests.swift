import Foundation
import TestSupport
import Testing

/// What commands say that find nothing.
@Suite struct EmptyResultTests {
    private static func withShops(
        _ body: @escaping @Sendable (Program.Run) async throws -> Void
    ) async throws {
        try await Program.withService { service, _, run in
            try await service.store(
                [
                    "s1": #""kind":"kiosk","rating":"good","location":\#(point(1, 2))"#,
                    "s2": #""kind":"shop","n":1"#,
                ], in: "shops")
            try await body(run)
        }
    }

    @Test(arguments: [
        (
            ["query", "--bucket", "shops", "--where", "raiting = 4"],
            #"no object has the field "raiting"; the nearest is "rating""#
        ),
        (
            ["query", "--bucket", "shops", "--where", "rating > 4", "--all"],
            #"the field "rating" holds texts, and is compared with numbers"#
        ),
        (
            ["query", "--bucket", "shops", "--near", "1,2", "--field", "position"],
            #"no object has a GeoPoint at "position"; there are some at "location""#
        ),
        (["query", "--bucket", "shop"], #"there is no bucket "shop"; the nearest is "shops""#),
        (
            ["query", "--bucket", "shop", "--group-by", "kind"],
            #"there is no bucket "shop"; the nearest is "shops""#
        ),
        (
            ["query", "--bucket", "shop", "--max", "n"],
            #"there is no bucket "shop"; the nearest is "shops""#
        ),
        (["count", "--bucket", "shop"], #"there is no bucket "shop"; the nearest is "shops""#),
    ])
    func `A reason that is known is said on standard error`(
        _ arguments: [String], _ reason: String
    ) async throws {
        try await Self.withShops { run in
            let usual = try await run(arguments)
            #expect(usual.status == 0 && usual.errors == "geobucket: \(reason)\n", "\(usual)")
            let strict = try await run(arguments + ["--fail-if-empty"])
            #expect(strict.status == 4 && strict.errors == usual.errors, "\(strict)")
            #expect(strict.output == usual.output)
        }
    }

    @Test(arguments: [
        ([], "_id\n"), (["--fields", "name,kind"], "_id  name  kind\n"),
        (["--near", "1,2", "--fields", "name"], "_id  name  distance\n"),
        (["--group-by", "kind"], "value  count\n"), (["--format", "json"], "[]\n"),
        (["--format", "ndjson"], ""),
    ])
    func `A table without rows has its header`(_ flags: [String], _ output: String) async throws {
        try await Self.withShops { run in
            let query = try await run(
                ["query", "--bucket", "shops", "--where", "kind = mall"] + flags)
            #expect(query.status == 0 && query.output == output, "\(query)")
            #expect(query.errors == "")
        }
    }

    @Test func `What is found ends with 0, whether or not it has to be`() async throws {
        try await Self.withShops { run in
            for command in [
                ["query", "--bucket", "shops"], ["count", "--bucket", "shops"],
                ["query", "--bucket", "shops", "--group-by", "kind"],
                ["query", "--bucket", "shops", "--max", "n"],
            ] {
                let found = try await run(command + ["--fail-if-empty"])
                #expect(found.status == 0 && found.errors == "", "\(found)")
            }
        }
    }
}
