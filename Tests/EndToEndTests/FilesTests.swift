import Foundation
import TestSupport
import Testing

@testable import geobucket

/// Files that the program reads and writes for its user.
@Suite struct FilesTests {
    private static func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private static func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private static func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "accepted"
        } catch {
            return "\(error)"
        }
    }

    @Test func `A file that is replaced is new to all others, and an old one keeps its mode`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/tokens"
            try Files.replace(path, with: Array("one".utf8))
            #expect(Self.text(path) == "one")
            #expect(try Self.mode(path) == 0o600)
            #expect(chmod(path, 0o640) == 0)
            // What a replacement that was killed leaves is in nobody's way.
            try Files.write(Array("half".utf8), to: path + ".new")
            try Files.replace(path, with: Array("two".utf8))
            #expect(Self.text(path) == "two")
            #expect(try Self.mode(path) == 0o640)
            try Files.replace(path, with: [])
            #expect(Self.text(path) == "")
            #expect(try Self.names(folder) == ["tokens"])
        }
    }

    @Test func `A link stays a link when what it leads to is replaced`() async throws {
        try await withTemporaryFolder { folder in
            let (path, link) = (folder + "/tokens", folder + "/link")
            try Files.replace(path, with: Array("one".utf8))
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "tokens")
            try Files.replace(link, with: Array("two".utf8))
            #expect(Self.text(path) == "two" && Self.text(link) == "two")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "tokens")
        }
    }

    @Test func `A file that cannot be replaced stays as it was, and the reason is told`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let missing = Self.refusal { try Files.replace(folder + "/no/file", with: [1]) }
            #expect(missing.contains("no/file cannot be written: No such file"), "\(missing)")
            try FileManager.default.createDirectory(
                atPath: folder + "/full/inner", withIntermediateDirectories: true)
            let full = Self.refusal { try Files.replace(folder + "/full", with: [1]) }
            #expect(full.contains("full cannot be written"), "\(full)")
            #expect(try Self.names(folder) == ["full"])
        }
    }

    @Test func `A complete file is given no name that exists`() async throws {
        try await withTemporaryFolder { folder in
            let (partial, path) = (folder + "/copy.partial", folder + "/copy")
            try Files.write(Array("new".utf8), to: partial)
            try Files.publish(partial, as: path)
            #expect(Self.text(path) == "new")
            try Files.write(Array("newer".utf8), to: partial)
            let refused = Self.refusal { try Files.publish(partial, as: path) }
            #expect(refused.contains("copy cannot be written: File exists"), "\(refused)")
            #expect(Self.text(partial) == "newer")
        }
    }

    @Test func `A report takes the place of an older one, and the reason is told if it cannot`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let path = folder + "/report"
            for text in ["a long text", "short"] {
                try Files.write(Array(text.utf8), to: path)
                #expect(Self.text(path) == text)
            }
            let refused = Self.refusal { try Files.write([1], to: folder) }
            #expect(refused.contains("cannot be written: Is a directory"), "\(refused)")
            let full = Self.refusal { try Files.write([1], to: "/dev/full") }
            #expect(full.contains("/dev/full cannot be written: No space left"), "\(full)")
        }
    }

    @Test func `A file is read whole, and what is none is refused with the reason`() async throws {
        try await withTemporaryFolder { folder in
            let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            try Files.write(bytes, to: folder + "/bytes")
            #expect(try Files.contents(of: folder + "/bytes") == bytes)
            #expect(try Files.contents(of: "/dev/null").isEmpty)
            let missing = Self.refusal { _ = try Files.contents(of: folder + "/none") }
            #expect(missing.contains("none cannot be read: No such file"), "\(missing)")
            let directory = Self.refusal { _ = try Files.contents(of: folder) }
            #expect(directory.contains("cannot be read: Is a directory"), "\(directory)")
        }
    }
}
