import Geodesy
import Objects

/// A language of conditions as text: what its words and signs are and mean, and how its faults call
/// things. `FilterExpression` and `CQL2Filter` have one each.
struct TextDialect: Sendable {
    /// Reads a part of a condition, from the current token on.
    typealias Reading<Value> = @Sendable (inout TextParser) throws(FilterSyntaxError) -> Value

    /// An operator's name, as faults spell it: a word or a sign.
    typealias Operator = (name: String, means: TextOperator)

    // MARK: Names

    /// A word as the names here are spelled, since case does not matter.
    let spelled: @Sendable (String) -> String
    let and, or, not, null: String
    /// In the order in which faults list them.
    let operators: [Operator]
    /// Functions that are values or fields by name. They begin behind their parenthesis.
    let functions: [String: Reading<TextOperand>]
    /// Functions that are conditions by name. They begin at their parenthesis.
    let conditions: [String: Reading<Clause>]
    /// Words that are conditions where no comparison follows.
    let constants: [String: Bool]

    // MARK: Tokens

    /// What may begin a list, with what ends it.
    let lists: [String: String]
    /// The quotes, and whether a field stands in them, not a string.
    let quotes: [Unicode.Scalar: Bool]
    /// Whether a quote inside quotes is doubled, and a backslash is itself unless it has a meaning;
    /// otherwise escapes are JSON's.
    let doublesQuotes: Bool
    /// What a word may have besides letters, digits, `_`, `:` and anything outside ASCII.
    let wordMarks: [Unicode.Scalar]
    /// Whether numbers are tokens, not words.
    let hasNumbers: Bool
    /// What is refused, with the reason: one or two characters, of which no word is begun.
    let hints: [String: String]

    // MARK: Conditions

    /// A field or a value, where a condition begins.
    let left: Reading<TextOperand>
    /// A value behind an operator.
    let right: @Sendable (inout TextParser, FieldPath) throws(FilterSyntaxError) -> ComparedValue

    // MARK: Faults

    /// What a field is called, and the quotes that it may stand in.
    let field, fieldQuotes: String
    /// What may stand behind a field.
    let expectedOperator: @Sendable (TextDialect) -> String
    /// What has an order, and how it stands to the operator.
    let expectedLimit: String
    /// Why no distance stands in a condition.
    let refusesDistances: String

    // MARK: Tables

    /// What a word or sign means behind a field.
    func meaning(of name: String?) -> TextOperator? {
        operators.first { $0.name == name }?.means
    }

    func name(of meaning: TextOperator) -> String {
        operators.first { $0.means == meaning }!.name
    }

    /// Whether a word cannot be a field or a value without quotes.
    func isReserved(_ name: String?) -> Bool {
        if let meaning = meaning(of: name) { return meaning != .presence }
        return [and, or, not].contains(name)
    }

    /// Whether a text is a sign.
    func isSign(_ text: String) -> Bool {
        text == "," || lists.contains { $0 == text || $1 == text } || meaning(of: text) != nil
    }

    // MARK: Expectations

    /// What may stand behind a field.
    func expectation(behind field: TextField, isNegated: Bool) -> String {
        if field.isFolded { return expectedBehindFolding }
        return isNegated
            ? "\(names(quoted: true) { $0.isNegatable }) after \"\(not)\"" : expectedOperator(self)
    }

    /// The comparisons, as a remark.
    var comparisons: String {
        "(\(operators.filter { $0.means.isComparison }.map(\.name).joined(separator: " ")))"
    }

    /// The names of some operators in a list for people: `=, <>, LIKE or IN`.
    func names(
        _ last: String = "or", quoted: Bool = false, where isListed: (TextOperator) -> Bool
    ) -> String {
        let names = operators.filter { isListed($0.means) }
            .map { quoted ? "\"\($0.name)\"" : $0.name }
        let first = names.dropLast().joined(separator: ", ")
        return first.isEmpty ? names[0] : "\(first) \(last) \(names.last!)"
    }
}

/// What stands on one side of an operator.
enum TextOperand {
    case field(TextField)
    case literal(Literal)
    case time(TimeSpan)
}

/// A field before an operator.
struct TextField {
    let path: FieldPath
    /// Whether its text is read without regard to case.
    var isFolded = false
}
