/// Flags as words on lines, as a shell has them.
///
///     FlagWords.split("--place 'a b'=lat,lon  # the stops")    // ["--place", "a b=lat,lon"]
public enum FlagWords {
    /// The words of a text, as a shell would split it: quotes keep blanks, `#` begins a comment, and
    /// a backslash, which continues a line, is a blank.
    public static func split(_ text: String) -> [String] {
        var words: [String] = []
        var word: String.UnicodeScalarView?
        var quote: Unicode.Scalar?
        var isComment = false
        for scalar in text.unicodeScalars {
            if isComment {
                isComment = scalar != "\n"
            } else if let open = quote {
                if scalar == open { quote = nil } else { word!.append(scalar) }
            } else if scalar == "'" || scalar == "\"" {
                (quote, word) = (scalar, word ?? "".unicodeScalars)
            } else if isBlank(scalar) || scalar == "\\" {
                if let word { words.append(String(word)) }
                word = nil
            } else if scalar == "#", word == nil {
                isComment = true
            } else {
                word = (word ?? "".unicodeScalars) + CollectionOfOne(scalar)
            }
        }
        return words + (word.map { [String($0)] } ?? [])
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || (0x09...0x0D).contains(scalar.value)
    }

    /// A word as `split`, or a shell, reads it back.
    public static func quoted(_ word: String) -> String {
        let plain = word.unicodeScalars.allSatisfy {
            $0.isASCII
                && ($0.properties.isAlphabetic
                    || "0123456789-_=,.:/@%+".unicodeScalars.contains($0))
        }
        guard !plain || word.isEmpty else { return word }
        // By scalars: with a mark behind it a quote is another character, but a quote to a shell.
        var quoted = "'".unicodeScalars
        for scalar in word.unicodeScalars {
            if scalar == "'" { quoted += "'\"'\"'".unicodeScalars } else { quoted.append(scalar) }
        }
        return String(quoted + CollectionOfOne("'"))
    }
}
