import ArgumentParser

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
                files += split(String(decoding: try Files.contents(of: path), as: UTF8.self))
            } else if word.hasPrefix("--mapping=") {
                let path = String(word.dropFirst("--mapping=".count))
                files += split(String(decoding: try Files.contents(of: path), as: UTF8.self))
            } else if word == "keep-as", own.last == "--underscores", let name = rest.popFirst() {
                own.append("keep-as=\(name)")
            } else {
                own.append(word)
            }
        }
        return [command] + files + own
    }

    /// The words of a text, as a shell would split it: quotes keep blanks, `#` begins a comment.
    static func split(_ text: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isComment = false
        for character in text {
            if isComment {
                isComment = !character.isNewline
            } else if let open = quote {
                if character == open { quote = nil } else { word!.append(character) }
            } else if character == "'" || character == "\"" {
                (quote, word) = (character, word ?? "")
            } else if character.isWhitespace || character == "\\" {
                if let word { words.append(word) }
                word = nil
            } else if character == "#", word == nil {
                isComment = true
            } else {
                word = (word ?? "") + String(character)
            }
        }
        return words + (word.map { [$0] } ?? [])
    }

    /// A word as a shell reads it back.
    static func quoted(_ word: String) -> String {
        let plain = word.allSatisfy {
            $0.isASCII && ($0.isLetter || $0.isNumber || "-_=,.:/@%+".contains($0))
        }
        guard !plain || word.isEmpty else { return word }
        return "'" + word.replacing("'", with: "'\"'\"'") + "'"
    }
}
