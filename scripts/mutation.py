"""Mutants of Swift sources, by text: each is a small change that is made when GEOBUCKET_MUTANT is its number, so that
one build has all of them. Operators become operators of their own, which are declared beside the sources with the
same precedence; so nothing has to be known of how far an operand goes.
"""
import re

C_MODULE = {
    "mutant.c": "#include <stdlib.h>\nint gb_mutant;\n__attribute__((constructor)) static void choose(void) {\n"
                '    const char *number = getenv("GEOBUCKET_MUTANT");\n    gb_mutant = number ? atoi(number) : 0;\n}\n',
    "CMutant.h": "extern const int gb_mutant;\n",
    "module.modulemap": 'module CMutant { header "CMutant.h" export * }\n',
}

# What an operator becomes: its precedence, what is asked of its operands, and the change.
COMPARISON = "ComparisonPrecedence"
OPERATORS = {
    "<": (COMPARISON, "Comparable", "a <= b"), "<=": (COMPARISON, "Comparable", "a < b"),
    ">": (COMPARISON, "Comparable", "a >= b"), ">=": (COMPARISON, "Comparable", "a > b"),
    "==": (COMPARISON, "Equatable", "a != b"), "!=": (COMPARISON, "Equatable", "a == b"),
    "+": ("AdditionPrecedence", "AdditiveArithmetic", "a - b"),
    "-": ("AdditionPrecedence", "AdditiveArithmetic", "a + b"),
    "*": ("MultiplicationPrecedence", "Numeric", "a + b"),
    "&&": ("LogicalConjunctionPrecedence", None, "try a || b()"),
    "||": ("LogicalDisjunctionPrecedence", None, "try a && b()"),
    "..<": ("RangeFormationPrecedence", "Strideable", "a..<b.advanced(by: 1)"),
}
SPACED = re.compile(r"(?<= )(<=|>=|==|!=|&&|\|\||<|>|\+|-|\*)(?= [^=\s])")
CONDITION = re.compile(r"^\s*(?:\} else )?(if|guard|while) (?!let |var |case |#|true)([^,{]+?)(?= else \{| \{)")
CALL = re.compile(r"^(\s+)([a-z][\w.]*\((?:[^{}()]|\([^{}()]*\))*\))$")
LEFT_OUT = re.compile(r"^\s*(//|@|#|import |precondition|assert|where |extension |init|(\w+ )*(func|struct|class|enum|typealias|protocol) )")


class Mutant:
    """One change: where it is, what it does, and the pieces of text that put it into its line."""

    def __init__(self, path, line, what, edits, declaration=None):
        self.path, self.line, self.what, self.edits, self.declaration = path, line, what, edits, declaration
        self.number = 0

    def pieces(self):
        """Start, end and new text of what it replaces in its line."""
        return [(start, end, text.replace("NUMBER", str(self.number)).replace("SIGN", self.sign)) for start, end, text in self.edits]

    @property
    def sign(self):
        """The number in characters that an operator may end with."""
        return "".join("⊕⊖⊗⊘⊙⊚⊛⊜⊝⊞"[int(digit)] for digit in str(self.number))

    def declared(self):
        return (self.declaration or "").replace("NUMBER", str(self.number)).replace("SIGN", self.sign)


def operator_declaration(name):
    precedence, bound, change = OPERATORS[name]
    head = f"infix operator {name}SIGN: {precedence}; @inlinable @inline(__always) func {name}SIGN"
    if bound is None:
        return (f"{head}(a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool "
                f"{{ gb_mutant == NUMBER ? {change} : try a {name} b() }}")
    if name == "..<":
        return f"{head}<T: Strideable>(a: T, b: T) -> Range<T> where T.Stride: SignedInteger {{ gb_mutant == NUMBER ? {change} : a..<b }}"
    result, body = "Bool" if precedence == COMPARISON else "T", f"{{ gb_mutant == NUMBER ? {change} : a {name} b }}"
    declared = f"{head}<T: {bound}>(a: T, b: T) -> {result} {body}"
    if result == "T":
        declared += (f"; @inlinable @inline(__always) func {name}SIGN<T: SIMD>(a: T, b: T) -> T "
                     f"where T.Scalar: FloatingPoint {body}")
    return declared


def mutants_of_line(path, number, line):
    code = line.split(" // ")[0].rstrip()
    if LEFT_OUT.match(code) or '"' in code or not code.strip():
        return

    def mutant(what, edits, declaration=None):
        return Mutant(path, number, what, edits, declaration)

    for match in SPACED.finditer(code):
        name = match.group()
        yield mutant(f"`{name}`: {OPERATORS[name][2].replace('try ', '').replace('()', '')}",
                     [(match.start(), match.end(), name + "SIGN")], operator_declaration(name))
    for match in re.finditer(r"(?<=[\w)\]])(\.\.<)(?=[\w(])", code):
        yield mutant("`..<`: one more", [(match.start(), match.end(), " ..<SIGN ")], operator_declaration("..<"))
    for match in re.finditer(r"(?<=[+-] )1\b(?![.\w])", code):
        yield mutant("`1`: 2", [(match.start(), match.end(), "(gb_mutant == NUMBER ? 2 : 1)")])
    if match := CONDITION.match(code):
        yield mutant("the condition: negated", [(match.start(2), match.start(2), "("), (match.end(2), match.end(2), ") != (gb_mutant == NUMBER)")])
    if match := re.search(r"\breturn (true|false)$", code):
        other = "!=" if match.group(1) == "true" else "=="
        yield mutant(f"`{match.group(1)}`: the other", [(match.start(1), match.end(1), f"(gb_mutant {other} NUMBER)")])
    for match in re.finditer(r"(?<![\w.])(min|max)\(", code):
        name, other = match.group(1), "max" if match.group(1) == "min" else "min"
        yield mutant(f"`{name}`: {other}", [(match.start(1), match.end(1), f"{name}NUMBER")],
                     f"@inlinable @inline(__always) func {name}NUMBER<T: Comparable>(_ a: T, _ b: T) -> T "
                     f"{{ gb_mutant == NUMBER ? {other}(a, b) : {name}(a, b) }}")
    if match := CALL.match(code):
        yield mutant("the call: left out", [(match.start(2), match.start(2), "if gb_mutant != NUMBER { "), (match.end(2), match.end(2), " }")])


def mutants_of(path):
    """All mutants of a file."""
    found, quoted = [], False
    for number, line in enumerate(path.read_text().split("\n")):
        if line.count('"""') % 2:
            quoted = not quoted
        elif not quoted:
            found += mutants_of_line(path, number, line)
    return found


def with_mutants(text, mutants):
    """A file's text with mutants of it."""
    lines = text.split("\n")
    pieces = sorted(((mutant.line, *piece, order) for order, mutant in enumerate(mutants) for piece in mutant.pieces()),
                    key=lambda piece: (piece[0], piece[1], piece[2] - piece[1], piece[4]), reverse=True)
    for line, start, end, new, _ in pieces:
        lines[line] = lines[line][:start] + new + lines[line][end:]
    lines[0] = "import CMutant; " + lines[0]
    return "\n".join(lines)
