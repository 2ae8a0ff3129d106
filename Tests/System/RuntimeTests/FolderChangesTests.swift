import Foundation
import Runtime
import TestSupport
import Testing

/// Each wait would take an hour.
@Suite(.timeLimit(.minutes(5))) struct FolderChangesTests {
    /// Returns when a change that was made before is told.
    private static func wait(for changes: FolderChanges) {
        changes.wait(
            until: ServiceClock().deadline(after: .seconds(3_600)), unless: Interrupt())
    }

    @Test func `A change of a file in a folder ends a wait`() async throws {
        try await withTemporaryFolder { folder in
            let (file, other) = (URL(filePath: folder + "/file"), folder + "/other")
            let changes = FolderChanges(in: [folder])
            #expect(changes.areTold)
            try Data("one".utf8).write(to: file)
            Self.wait(for: changes)
            try Data("two".utf8).write(to: file)
            Self.wait(for: changes)
            #expect(chmod(file.path, 0o600) == 0)
            Self.wait(for: changes)
            #expect(symlink("file", other + ".new") == 0)
            Self.wait(for: changes)
            #expect(rename(other + ".new", other) == 0)
            Self.wait(for: changes)
            #expect(unlink(other) == 0)
            Self.wait(for: changes)
        }
    }

    @Test func `A wait takes what has changed with it, and ends when it is interrupted`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let (changes, clock) = (FolderChanges(in: [folder]), ServiceClock())
            try Data("one".utf8).write(to: URL(filePath: folder + "/file"))
            Self.wait(for: changes)
            let interrupt = Interrupt()
            let end = clock.deadline(after: .milliseconds(1))
            changes.wait(until: end, unless: interrupt)
            #expect(end.isOver)
            interrupt.raise()
            changes.wait(until: clock.deadline(after: .seconds(3_600)), unless: interrupt)
        }
    }

    @Test func `Changes in a folder that is missing are not told`() {
        #expect(!FolderChanges(in: ["/there/is/no/such/folder"]).areTold)
    }
}
