import ArgumentParser
import Glibc

/// Asks before something is deleted.
struct Confirmation: ParsableArguments {
    @Flag(help: "Do not ask.")
    var yes = false

    /// Whether somebody can be asked.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && Console.errorIsTerminal }

    /// Asks at a terminal; elsewhere the flag has to be given.
    ///
    /// - Parameter what: such as `the bucket shops with its 2 objects`.
    /// - Throws: unless somebody agrees.
    static func ask(toDelete what: String) throws {
        guard isPossible else {
            throw ValidationError("\(what) would be deleted; --yes does it")
        }
        Console.status("Delete \(what)? [y/N] ")
        guard let line = readLine(), line.lowercased().hasPrefix("y") else {
            throw CommandFailure("nothing was deleted")
        }
    }
}
