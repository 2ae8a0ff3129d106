import ArgumentParser
import Objects
import QueryLanguage

extension ClauseOptions {
    /// The order of a flag `--order-by`; without it that of the first distance that is reported.
    func order(_ text: String?) throws -> [OrderKey] {
        let reported = reportedNames
        guard let text else { return reported.prefix(1).map { OrderKey(.distance(name: $0)) } }
        return try text.split(separator: ",").map { part in
            let pieces = part.split(
                separator: ":", maxSplits: 1, omittingEmptySubsequences: false
            ).map(String.init)
            guard let name = pieces.first, !name.isEmpty,
                pieces.count == 1 || ["asc", "desc"].contains(pieces[1])
            else {
                throw ValidationError(
                    "--order-by: \"\(part)\" is no field, field:asc or field:desc")
            }
            if name == ClauseOptions.distanceName, reported.isEmpty {
                throw ValidationError("--order-by \(name) needs --near")
            }
            let distance = reported.first { name == $0 || name == "_calculated.\($0)" }
            return OrderKey(
                distance.map { .distance(name: $0) } ?? .field(FieldPath(name)),
                descending: pieces.count == 2 && pieces[1] == "desc")
        }
    }
}
