import ArgumentParser
import Interchange

/// Words of the command line that stand for several: `--mapping FILE` and `--underscores keep-as x_`.
enum MappingWords {
    /// The words with the flags of mapping files in front of the others, so that a flag of the
    /// command line decides.
    ///
    /// - Throws: for a mapping file that cannot be read.
    static func expanded(_ words: [String]) throws -> [String] {
        guard let command = words.first, ["load", "inspect"].contains(command) else { return words }
        var (own, files) = ([String](), [String]())
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            if word == "--mapping", let path = rest.popFirst() {
                files += FlagWords.split(
                    String(decoding: try Files.contents(of: path), as: UTF8.self))
            } else if word.hasPrefix("--mapping=") {
                let path = String(word.dropFirst("--mapping=".count))
                files += FlagWords.split(
                    String(decoding: try Files.contents(of: path), as: UTF8.self))
            } else if word == "keep-as", own.last == "--underscores", let name = rest.popFirst() {
                own.append("keep-as=\(name)")
            } else {
                own.append(word)
            }
        }
        return [command] + files + own
    }
}
