import ArgumentParser
import Objects

/// The words of the command line, before the argument parser takes them.
enum CommandWords {
    /// A command by the words that lead to it: `["token", "create"]`; none for the program itself.
    private typealias Found = (command: any ParsableCommand.Type, path: [String])

    /// The words as the parser takes them: `version` and `-v` are `--version`, `--help-all` is its
    /// `--help-hidden`.
    ///
    /// - Throws: `ValidationError` for a command that does not exist, with the nearest that does;
    ///   `MissingCommand` where one has to follow.
    static func checked(_ words: [String]) throws -> [String] {
        if ["version", "-v"].contains(words.first) { return ["--version"] }
        let (found, rest) = command(in: words)
        let children = found.command.configuration.subcommands
        if !children.isEmpty {
            guard let next = rest.first else { throw MissingCommand(command: found.command) }
            if !next.hasPrefix("-"), next != "help" {
                let nearest = nearestName(to: next, among: children.map(name))
                let words = (["geobucket"] + found.path).joined(separator: " ")
                throw ValidationError(
                    "`\(words)` has no command \"\(next)\""
                        + (nearest.map { "; the nearest is `\(words) \($0)`" } ?? ""))
            }
        }
        return words.map { $0 == "--help-all" ? "--help-hidden" : $0 }
    }

    /// The first flag that its command does not have, and the nearest that it has.
    ///
    /// The parser itself tells the first fault in its own order, such as a flag that is missing
    /// because it is misspelt.
    static func unknownFlag(in words: [String]) -> (flag: String, nearest: String?)? {
        let (found, rest) = command(in: words)
        let help = GeoBucket.helpMessage(for: found.command, includeHidden: true)
        let known = Set(help.matches(of: #/--[a-z][a-z0-9-]*/#).map { String($0.output) })
        let flags = rest.prefix { $0 != "--" }.lazy
            .compactMap { $0.prefixMatch(of: #/--[A-Za-z][A-Za-z0-9_-]*/#) }
            .map { String($0.output) }
        guard let flag = flags.first(where: { !known.contains($0) }) else { return nil }
        return (flag, nearestName(to: flag, among: known))
    }

    /// The words that select a command: `["token", "create"]`.
    static func path(
        to command: any ParsableCommand.Type, below parent: any ParsableCommand.Type
    ) -> [String]? {
        for child in parent.configuration.subcommands {
            if child == command { return [name(child)] }
            if let rest = path(to: command, below: child) { return [name(child)] + rest }
        }
        return nil
    }

    /// The command that words begin with, and the words behind it.
    private static func command(in words: [String]) -> (Found, rest: ArraySlice<String>) {
        var found: Found = (GeoBucket.self, [])
        var rest = words[...]
        while let word = rest.first,
            let child = found.command.configuration.subcommands.first(where: { name($0) == word })
        {
            found = (child, found.path + [word])
            rest.removeFirst()
        }
        return (found, rest)
    }

    private static func name(_ command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? "\(command)".lowercased()
    }
}

/// A command that needs one of its own commands.
struct MissingCommand: Error {
    let command: any ParsableCommand.Type
}
