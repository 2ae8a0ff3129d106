/// Prometheus' text format 0.0.4.
enum PrometheusText {
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Labels as they are written between braces: `method="bucket.query",code="STORE_FULL"`.
    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",")
    }

    private static func escaped(_ value: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\", "\"": text += ["\\", scalar]
            case "\n": text += ["\\", "n"]
            default: text.append(scalar)
            }
        }
        return String(text)
    }

    /// Whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? value.description
    }

    static func append(
        _ family: PrometheusRegistry.Family, named name: String, to text: inout String
    ) {
        if let help = MetricCatalogue.help(of: name) { text += "# HELP \(name) \(help)\n" }
        text += "# TYPE \(name) \(family.kind.rawValue)\n"
        for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
            for sample in series.samples {
                let bound = sample.bound.map { "le=\"\($0)\"" }
                let all = [labels.isEmpty ? nil : labels, bound].compactMap { $0 }
                text += name + sample.suffix
                if !all.isEmpty { text += "{\(all.joined(separator: ","))}" }
                text += " \(number(sample.value))\n"
            }
        }
    }
}
