import Foundation
import TestSupport
import Testing

/// What the documents name is there: modules, suites, files, and the targets of links. Public
/// declarations are documented.
@Suite struct RepositoryTests {
    /// The paths of all files whose names end so, relative to the checkout, hidden ones aside.
    private static func files(_ endings: String...) throws -> [String] {
        let root = Checkout.root.path(percentEncoded: false)
        let files = try #require(
            FileManager.default.enumerator(
                at: Checkout.root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles))
        return files.compactMap { ($0 as? URL)?.path(percentEncoded: false) }
            .filter { path in endings.contains { path.hasSuffix($0) } }
            .map { String($0.dropFirst(root.hasSuffix("/") ? root.count : root.count + 1)) }
            .filter { !$0.contains("/results/") }.sorted()
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Checkout.root.appending(path: path), encoding: .utf8)
    }

    private static func folders(in path: String) throws -> [String] {
        let folder = Checkout.root.appending(path: path)
        return try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil, options: .skipsHiddenFiles
        ).filter(\.hasDirectoryPath).map(\.lastPathComponent)
    }

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(
            atPath: Checkout.root.appending(path: path).path(percentEncoded: false))
    }

    private static func folder(of path: String) -> String {
        path.contains("/") ? String(path[...path.lastIndex(of: "/")!]) : ""
    }

    /// The history names what was there at the time.
    private static func documents() throws -> [String] {
        try files(".md").filter { $0 != "CHANGELOG.md" }
    }

    @Test func `The table of modules has every module in its layer and no other`() throws {
        let rows = try Self.text("docs/architecture.md")
            .matches(of: /(?m)^\| ([A-Z][a-z]+) \| ([^|]+) \|/)
        let documented = rows.flatMap { row in
            row.output.2.matches(of: /`(\w+)`/).map { "\(row.output.1)/\($0.output.1)" }
        }
        let modules = try Self.folders(in: "Sources").flatMap { layer in
            try Self.folders(in: "Sources/" + layer).map { "\(layer)/\($0)" }
        }
        #expect(modules.count > 20)
        #expect(documented.sorted() == modules.sorted())
    }

    @Test func `What a client chose is logged as metadata, by the one handler, which quotes them`()
        throws
    {
        // A name of the program's own: tokens, or keys.
        let exceptions = ["Sources/Tools/geobucket/WatchedFile.swift"]
        let message =
            /(?i)log(?:ger)?\??\.(?:trace|debug|info|notice|warning|error|critical)\(\s*([^\n]+)/
        var seen = 0
        for path in try Self.files(".swift") where path.hasPrefix("Sources/") {
            let text = try Self.text(path)
            #expect(!text.contains("StreamLogHandler"), "\(path)")
            let bootstraps = text.contains("LoggingSystem.bootstrap")
            #expect(!bootstraps || path == "Sources/Tools/geobucket/Serve.swift", "\(path)")
            for match in text.matches(of: message) where !exceptions.contains(path) {
                seen += 1
                let literal = match.output.1.prefixMatch(of: /"((?:[^"\\]|\\[^(])*)"/)
                #expect(literal != nil, "\(path): \(match.output.0)")
            }
        }
        #expect(seen > 40)
    }

    @Test func `Package.swift declares no dependency that is not imported`() throws {
        let target =
            #/
            \.( target | executableTarget | testTarget ) \(
            \s* name: \s* "(\w+)", \s* dependencies: \s* \[ ( (?: [^\[\]] | \[ [^\]]* \] )* ) \]
            /#
        let sources = try Self.files(".swift", ".cpp", ".h")
        let targets = try Self.text("Package.swift").matches(of: target)
        #expect(targets.count > 50)
        // Tests run programs, too.
        let programs = targets.filter { $0.output.1 == "executableTarget" }.map(\.output.2)
        for (_, _, name, dependencies) in targets.map(\.output) {
            let own = sources.filter { $0.contains("/\(name)/") || $0.hasPrefix("Tests/\(name)/") }
            let texts = try own.map(Self.text)
            #expect(!texts.isEmpty, "\(name)")
            let modules = dependencies.matches(of: /(?:^|,|\(name:)\s*"(\w+)"/).map(\.output.1)
            for module in modules where !programs.contains(module) {
                let isImported = texts.contains {
                    $0.contains("import \(module)\n") || $0.contains("#include \"\(module).h\"")
                        || $0.contains("import struct \(module).")
                }
                #expect(isImported, "\(name): \(module)")
            }
        }
    }

    @Test func `Every suite that a document names exists`() throws {
        let suites = try Self.files(".swift").filter { $0.hasPrefix("Tests/") }
            .flatMap { path in
                try Self.text(path).matches(of: /(?:struct|class|enum) (\w+(?:Tests|Rules))\b/)
                    .map { String($0.output.1) }
            }
        let places = try ["Sources", "Tests"].flatMap { root in
            try Self.folders(in: root).flatMap { try Self.folders(in: "\(root)/\($0)") }
        }
        let known = Set(suites + places + (try Self.folders(in: "Tests")))
        for document in try Self.documents() {
            // The threat model names what shows something, not where it is.
            let known = document == "docs/threat-model.md" ? Set(suites) : known
            for name in try Self.text(document).matches(of: /\b[A-Z]\w*[a-z](?:Tests|Rules)\b/) {
                #expect(known.contains(String(name.output)), "\(document): \(name.output)")
            }
        }
    }

    /// The last column of a row has suites, each with the names of its tests in quotes; scripts;
    /// and targets of fuzzing.
    @Test func `Every row of the threat model names tests, and these exist in their suites`()
        throws
    {
        let table = try #require(
            try Self.text("docs/threat-model.md").split(separator: "\n\n")
                .first { $0.hasPrefix("| attack | defence | tests |\n") })
        let rows = table.split(separator: "\n").dropFirst(2)
        #expect(rows.count > 50)
        let item =
            #/`(\w+)`: ("[^"]+"(?:, "[^"]+")*)|`(?:scripts|deploy)/[^`]+`|target `(\w+)`/#
        let tests = try Self.testsBySuite()
        let conditions = try Self.conditionsOfTests()
        for row in rows {
            let cells = row.dropFirst(2).dropLast(2).components(separatedBy: " | ")
            #expect(cells.count == 3, "\(row)")
            let items = cells.last!.matches(of: item).map(\.output)
            // Nothing stands between them, and a row without any is no row.
            #expect(cells.last == items.map(\.0).joined(separator: ", "), "\(row)")
            for case (_, let suite?, let names?, _) in items {
                for name in names.matches(of: /"([^"]+)"/).map(\.output.1) {
                    let isThere = tests[String(suite)]?.contains(String(name)) == true
                    #expect(isThere, "\(suite): \(name)")
                    let condition = conditions[String(name)]
                    #expect(
                        condition == nil, "\(suite): \(name) is skipped without \(condition ?? "")")
                }
            }
            for case (_, _, _, let target?) in items {
                #expect(Self.exists("Fuzzing/Corpora/\(target)"), "\(target)")
            }
        }
    }

    /// The names of the tests in the files of each suite.
    private static func testsBySuite() throws -> [String: Set<String>] {
        var tests: [String: Set<String>] = [:]
        for path in try files(".swift") where path.hasPrefix("Tests/") {
            let text = try text(path)
            let names = text.matches(of: /func\s+`([^`]+)`|@Test\(\s*"([^"]+)"/)
                .map { String($0.output.1 ?? $0.output.2 ?? "") }
            for suite in text.matches(of: /(?m)^(?:[^\/\s].*\s)?(?:struct|extension) (\w+)/) {
                tests[String(suite.output.1), default: []].formUnion(names)
            }
        }
        return tests
    }

    /// What CI has: PostgreSQL, which has an attribute of its own, root and a build with everything.
    private static let present: Set = ["geteuid() == 0", "TLSIdentity.isAvailable"]

    /// What else tests ask for that are skipped without it, by their names.
    private static func conditionsOfTests() throws -> [String: String] {
        let found = try files(".swift").filter { $0.hasPrefix("Tests/") }.flatMap { path in
            try text(path).matches(of: /\.enabled\(if: ([^,`]+),[^`]*?func\s+`([^`]+)`/)
                .map { (String($0.output.2), String($0.output.1)) }
        }
        #expect(found.count > 5)
        return Dictionary(found) { first, _ in first }.filter { !present.contains($0.value) }
    }

    @Test func `Every relative link leads to a file and a heading that are there`() throws {
        for document in try Self.documents() {
            for link in try Self.text(document).matches(of: /\]\(([^)#\s]*)(?:#([^)\s]+))?\)/) {
                let (path, heading) = (String(link.output.1), link.output.2.map(String.init))
                guard !path.contains("://") else { continue }
                let target = path.isEmpty ? document : Self.folder(of: document) + path
                #expect(Self.exists(target), "\(document): \(link.output.0)")
                guard let heading, Self.exists(target) else { continue }
                #expect(
                    try Self.anchors(of: target).contains(heading),
                    "\(document): \(link.output.0)")
            }
        }
    }

    /// The anchors of a document's headings, as GitHub makes them.
    private static func anchors(of document: String) throws -> Set<String> {
        Set(
            try text(document).matches(of: /(?m)^#+ (.+)$/).map { heading in
                heading.output.1.lowercased().replacing(" ", with: "-")
                    .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
            })
    }

    @Test func `Every file of the repository that a document names exists`() throws {
        let path =
            /(?:\.ci|scripts|deploy|docs|Data|Examples|Fuzzing|Benchmarks|Sources|Tests)\/[\w.\/+-]*/
        for document in try Self.documents() where !document.hasPrefix("docs/measured/") {
            for code in try Self.text(document).matches(of: /`([^`\n]+)`/) {
                let words = code.output.1.split(separator: " ")
                for path in words.compactMap({ $0.prefixMatch(of: path)?.output }) {
                    let isThere =
                        Self.exists(String(path)) || Self.exists(Self.folder(of: document) + path)
                    #expect(isThere, "\(document): \(path)")
                }
            }
        }
    }

    @Test func `Every document that code or a script names exists`() throws {
        let sources = try Self.files(".swift", ".sh", ".py", ".yaml", "Dockerfile", ".service")
        var count = 0
        for source in sources {
            for path in try Self.text(source).matches(of: /\bdocs\/[\w.\/-]*\w/) {
                count += 1
                #expect(Self.exists(String(path.output)), "\(source): \(path.output)")
            }
        }
        #expect(count > 5)
    }

    /// What nobody may guess, such as a token, is drawn from nothing else.
    @Test func `Layers below the tools have no random numbers but the system's`() throws {
        let other =
            /SplitMix64|Mersenne|drand48|srand|\brand\(|arc4random|:[^{\n(]*\bRandomNumberGenerator *[,{]/
        let layers = ["System", "Core", "Engine", "Service", "Client"].map { "Sources/\($0)/" }
        var draws = 0
        for path in try Self.files(".swift") where layers.contains(where: path.hasPrefix) {
            let text = try Self.text(path)
            draws += text.matches(of: /SystemRandomNumberGenerator\(\)/).count
            // Passes on what the system gives.
            if path.hasSuffix("/RandomBuffer.swift"), text.contains("getentropy(") { continue }
            let found = text.firstMatch(of: other)
            #expect(found == nil, "\(path): \(found?.output ?? "")")
        }
        #expect(draws > 5)
        #expect("struct Seeded: RandomNumberGenerator {".contains(other))
    }

    @Test func `The functions that scripts/tsan_mutex.c stands before are those of this Swift`()
        throws
    {
        let names = try Self.text("scripts/tsan_mutex.c").matches(of: /"(\$s15Synchronization\w+)"/)
        #expect(names.count == 3)
        for name in names.map({ String($0.output.1) }) {
            #expect(dlsym(nil, name) != nil, "\(name)")
        }
    }

    @Test func `Every public declaration has a documentation comment`() throws {
        var count = 0
        // What a generator writes is documented where it comes from.
        let sources = try Self.files(".swift").filter { path in
            path.hasPrefix("Sources/") && !path.hasSuffix(".pb.swift")
        }
        for path in sources {
            let lines = try Self.text(path).split(separator: "\n", omittingEmptySubsequences: false)
            let members = Self.publicMembers(lines)
            for (index, line) in lines.enumerated()
            where Self.isPublicDeclaration(line) || members.contains(index) {
                count += 1
                let isDocumented = Self.isDocumented(lines[..<index])
                #expect(isDocumented, "\(path):\(index + 1): \(line)")
            }
        }
        #expect(count > 1_000)
        #expect(Self.publicMembers(["public enum A {", "    case b", "    var c: A", "}"]) == [1])
        #expect(Self.publicMembers(["public protocol A {", "    var b: A { get }", "}"]) == [1])
    }

    /// Each access to a closure that is the value of a generic type wraps it once more, because
    /// generic code sees it in another form: calls become slower and slower, until the stack
    /// overflows. A structure around the closure is passed on as it is.
    @Test func `No lock holds a bare closure`() throws {
        let lock =
            #/
            (?: Mutex | NIOLockedValueBox ) < \s* \(* (?: @\w+ \s* )*
            \( [^<>]* \) \s* (?: async \s* )? (?: throws \s* )? ->
            /#
        let sources = try Self.files(".swift").filter { $0.hasPrefix("Sources/") }
        for path in sources {
            let found = try Self.text(path).firstMatch(of: lock)
            #expect(found == nil, "\(path): \(found?.output ?? "")")
        }
        #expect("Mutex<(@Sendable (Int) -> Void)?>(nil)".contains(lock))
    }

    /// Whether a line begins a public declaration that is no witness of a standard protocol, whose
    /// documentation is the protocol's.
    private static func isPublicDeclaration(_ line: Substring) -> Bool {
        guard line.contains("public ") else { return false }
        let declaration =
            #/
            \s* (?: @\w+ (?: \([^)]*\) )? \s+ )*
            (?: [a-z]+ (?: \(\w+\) )? \s+ )* public \s+ (?: [a-z]+ (?: \(\w+\) )? \s+ )*
            (?: func | var | let | struct | class | enum | protocol | typealias | init | subscript
                | actor | macro ) (?!\w)
            /#
        let witness =
            #/
            func \s (?: == | < ) \s
            | func \s (?: hash | encode | next | makeIterator | makeAsyncIterator ) (?!\w)
            | var \s (?: description | debugDescription | errorDescription | hashValue ) (?!\w)
            | init \( (?: from \s | (?: string|integer|float|boolean|array|dictionary ) Literal )
            /#
        return line.prefixMatch(of: declaration) != nil && line.firstMatch(of: witness) == nil
    }

    /// The lines with a case of a public enumeration or a requirement of a public protocol, which
    /// are public without the word. They are one level deeper than the type; what continues them is
    /// deeper still. A comment above several cases on one line is the comment of them all.
    private static func publicMembers(_ lines: [Substring]) -> Set<Int> {
        let type = /(\s*)(?:@\w+ )*public (?:indirect )?(enum|protocol) .*[^}]/
        var members: Set<Int> = []
        for (index, line) in lines.enumerated() where line.contains("public ") {
            guard let (_, indentation, kind) = line.wholeMatch(of: type)?.output else { continue }
            let body = lines[(index + 1)...].prefix { !$0.hasPrefix("\(indentation)}") }
            let level = "\(indentation)    "
            let member = kind == "enum" ? /(?:indirect )?case\b/ : /[a-z@]/
            for position in body.indices where body[position].hasPrefix(level) {
                let isMember = body[position].dropFirst(level.count).prefixMatch(of: member) != nil
                if isMember { members.insert(position) }
            }
        }
        return members
    }

    /// Whether the lines above a declaration end in a documentation comment, attributes aside.
    private static func isDocumented(_ above: ArraySlice<Substring>) -> Bool {
        let attribute = /\s*@\w+(?:\(.*\))?/
        return above.last { $0.wholeMatch(of: attribute) == nil }?
            .trimmingPrefix(while: \.isWhitespace).hasPrefix("///") == true
    }
}
