import Foundation
import FuzzTargets
import TestSupport
import Testing

/// The inputs that fuzzing has found worth keeping, each of which once took a new path.
@Suite struct CorpusTests {
    static let folder = Checkout.root.appending(path: "Fuzzing/Corpora")

    @Test(arguments: FuzzTarget.allCases)
    func `Every kept input of a target passes`(_ target: FuzzTarget) throws {
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.folder.appending(path: target.rawValue), includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files { target.run([UInt8](try Data(contentsOf: file))) }
    }
}
