import BackendContract
import EmbeddedBackend
import Objects
import QueryLanguage
import TestSupport
import Testing

/// Which columns queries have made, and which a start makes again.
@Suite struct ColumnContractTests {
    @Test(arguments: BackendKind.all)
    func `a start makes the columns again that objects have values for, and no other`(
        on kind: BackendKind
    )
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            try await withColumns(kind, path) { backend in
                try await put(300, in: backend)
                let absent = (0..<900).map { Clause.eq(FieldPath("absent\($0)"), .null) }
                let threes = Clause.eq(FieldPath("kind"), .number(.integer(3)))
                for (clause, principal) in [(.or(absent), "mallory"), (threes, "alice")] {
                    _ = try backend.count(clause, in: shops, by: principal)
                    backend.settle()
                }
                #expect(backend.statistics().columns == Limits().bucketColumns / 4 + 1)
            }
            try await withColumns(kind, path) { backend in
                backend.settle()
                #expect(backend.statistics().columns == 1)
                let threes = Clause.eq(FieldPath("kind"), .number(.integer(3)))
                let found = try backend.count(threes, in: shops)
                #expect(found == 30)
            }
        }
    }

    /// The list that the store keeps, in its order.
    @Test func `a store remembers in which order columns were used, those being built too`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            func listed() throws -> String {
                let store = try SQLiteStore(path: path)
                defer { try? store.close() }
                return String(decoding: try store.setting("columns") ?? [], as: UTF8.self)
            }
            let fields = ["a", "b", "c"]
            let kind = BackendKind.embedded
            func ask(_ field: String, _ backend: any Backend) throws {
                let clause = Clause.eq(FieldPath(field), .number(.integer(3)))
                let found = try backend.count(clause, in: shops)
                #expect(found == 30)
            }
            try await withColumns(kind, path) { backend in
                try await put(300, in: backend)
                for field in fields {
                    try ask(field, backend)
                    backend.settle()
                }
            }
            #expect(try listed() == #"[["shops","c"],["shops","b"],["shops","a"]]"#)
            try await withColumns(kind, path) { backend in
                backend.settle()
                #expect(backend.statistics().columns == 3)
            }
            // Nothing was used.
            #expect(try listed() == #"[["shops","c"],["shops","b"],["shops","a"]]"#)
            try await withColumns(kind, path) { backend in
                backend.settle()
                try ask("b", backend)
            }
            #expect(try listed() == #"[["shops","b"],["shops","c"],["shops","a"]]"#)
            try await withColumns(kind, path) { try ask("d", $0) }
            #expect(
                try listed() == #"[["shops","d"],["shops","b"],["shops","c"],["shops","a"]]"#)
        }
    }

    @Test(arguments: BackendKind.all)
    func `a backend closes while columns are made, and has none half made afterwards`(
        on kind: BackendKind
    )
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/store.sqlite"
            for round in 0..<5 {
                try await withColumns(kind, path) { backend in
                    if round == 0 { try await put(3_000, in: backend) }
                    let clause = Clause.eq(FieldPath("kind"), .number(.integer(Int64(round))))
                    let found = try backend.count(clause, in: shops)
                    #expect(found == 300)
                }
            }
        }
    }

    /// A query that waited for the column would wait nearly as long as it may take.
    @Test(arguments: BackendKind.all)
    func `no query waits for a column that cannot take a value any more`(on kind: BackendKind)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await withBackend(kind, path: folder + "/store.sqlite", makesColumns: true) {
                let backend = $0.backend
                try await put(3_000, in: backend)
                let threes = Clause.eq(FieldPath("kind"), .number(.integer(3)))
                func count() throws -> Int {
                    let found = try backend.count(threes, in: shops)
                    backend.settle()
                    return found
                }
                #expect(try (count(), backend.statistics().columns) == (300, 1))
                let long = String(repeating: "x", count: 1 << 20)
                try await put(#"{"kind":"\#(long)"}"#, at: 3, in: backend)
                #expect(try count() == 299)
                try await put(#"{"kind":3}"#, at: 3, in: backend)
                #expect(try count() == 300)
            }
        }
    }

    private func put(_ text: String, at number: Int, in backend: any Backend) async throws {
        let object = PutObject(
            id: ObjectID(trusted: "o\(number)"),
            document: WrittenDocument(text: Array(text.utf8), points: []))
        _ = try await withCheckedThrowingContinuation { continuation in
            backend.submit(.put(bucket: shops, object: object, condition: .none)) {
                continuation.resume(with: $0)
            }
        }
    }

    private func put(_ count: Int, in backend: any Backend) async throws {
        let objects = (0..<count).map { number in
            let n = number % 10
            return PutObject(
                id: ObjectID(trusted: "o\(number)"),
                document: WrittenDocument(
                    text: Array(
                        #"{"kind":\#(n),"a":\#(n),"b":\#(n),"c":\#(n),"d":\#(n)}"#.utf8),
                    points: []))
        }
        _ = try await withCheckedThrowingContinuation { continuation in
            backend.submit(.putMany(bucket: shops, objects: objects)) {
                continuation.resume(with: $0)
            }
        }
    }

    private func withColumns(
        _ kind: BackendKind, _ path: String, _ body: (any TestedBackend) async throws -> Void
    ) async throws {
        try await withBackend(kind, path: path) { try await body($0.backend) }
    }
}

private let shops = BucketName(trusted: "shops")
