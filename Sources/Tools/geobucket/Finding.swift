import ArgumentParser
import JSONText

/// Whether something was found, and if not, why, as far as the service knows.
struct Finding: Sendable {
    var isEmpty: Bool
    private(set) var reasons: [String] = []

    init(isEmpty: Bool) { self.isEmpty = isEmpty }

    /// Takes the reasons of an answer.
    mutating func take(_ answer: JSONView) {
        reasons += answer["hints"]?.elements.compactMap { $0["message"]?.string } ?? []
    }
}

/// What a command that finds nothing does.
struct EmptyOption: ParsableArguments {
    @Flag(help: "Exit with status 4 if nothing is found.")
    var failIfEmpty = false

    /// Says why nothing was found.
    ///
    /// - Throws: `ExitCode` 4 if nothing was and the flag is given.
    func conclude(_ finding: Finding) throws {
        for reason in finding.reasons { Console.error(reason) }
        if finding.isEmpty, failIfEmpty { throw ExitCode(4) }
    }
}
