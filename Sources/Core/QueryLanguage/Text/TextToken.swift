import Objects
import PlainJSON

/// One token of a condition.
struct TextToken {
    enum Kind: Equatable {
        /// A bare word: a field, a value, a keyword or the name of a function, depending on the context.
        case word(String)
        /// A field in quotes.
        case name(String)
        /// A string in quotes. Where quotes are doubled, two backslashes are left as they are, since a
        /// pattern reads them in its own way.
        case string(String)
        case number(JSONNumber)
        /// An operator, a parenthesis, a bracket or a comma.
        case sign(String)
        case end
    }

    let kind: Kind
    /// A word as the dialect spells its names, or a sign.
    let name: String?
    /// The code points before it.
    let position: Int

    /// What the token is, for "expected …, found …".
    ///
    /// - Parameter field: what the dialect calls a field.
    func description(_ field: String) -> String {
        switch kind {
        case .word(let word): quoted(word)
        case .name(let name): "the \(field) \(quoted(name))"
        case .string(let text): "the string \(quoted(text))"
        case .number: "a number"
        case .sign(let sign): "\"\(sign)\""
        case .end: "the end"
        }
    }
}
