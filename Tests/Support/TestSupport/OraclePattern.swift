import JSONText

/// A clause `like`, written from its definition: which positions of a text the pattern can have
/// reached, character by character of the pattern.
public struct OraclePattern: Sendable {
    private let pattern: [Unicode.Scalar]
    private let ignoresCase: Bool

    init(_ clause: JSONValue) {
        self.init(clause["pattern"]!.string!, ignoringCase: clause["ignoreCase"]?.bool ?? false)
    }

    public init(_ pattern: String, ignoringCase: Bool) {
        ignoresCase = ignoringCase
        self.pattern = Self.characters(pattern, folded: ignoringCase)
    }

    public func matches(_ text: String) -> Bool {
        let text = Self.characters(text, folded: ignoresCase)
        var reached: Set = [0]
        var rest = pattern[...]
        while let first = rest.popFirst() {
            if first == "%" {
                reached = reached.min().map { Set($0...text.count) } ?? []
                continue
            }
            let literal = first == "\\" ? rest.popFirst() : first
            reached = Set(
                reached.filter { $0 < text.count && (first == "_" || text[$0] == literal) }
                    .map { $0 + 1 })
        }
        return reached.contains(text.count)
    }

    private static func characters(_ text: String, folded: Bool) -> [Unicode.Scalar] {
        // Of the characters that generated texts have, this is what folding makes.
        Array((folded ? text.lowercased().uppercased().lowercased() : text).unicodeScalars)
    }
}
