import TestSupport

/// A library that is loaded before others, in whose place its functions are called.
enum Shim {
    /// Compiles the C file of a name in this folder.
    ///
    /// - Returns: the path of the library, for `LD_PRELOAD`.
    static func build(_ name: String, in folder: String) async throws -> String {
        let shim = "\(folder)/\(name).so"
        let source = Program.packageRoot + "/Tests/EndToEndTests/\(name).c"
        let compiler = try ChildProcess.start(
            "/usr/bin/env",
            ["g++", "-x", "c", "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"],
            folder: folder)
        let status = await compiler.end()
        guard status == 0 else { throw TestFailure("the shim: \(compiler.standardError)") }
        return shim
    }
}
