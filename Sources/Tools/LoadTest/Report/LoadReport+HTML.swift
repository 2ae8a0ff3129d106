extension LoadReport {
    /// The report as a page: one file, well-formed XML, with no external resources.
    public var html: String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8"/>
        <meta name="viewport" content="width=device-width"/>
        <title>Load test of \(LineChart.escaped(setup.bucket)), \(date)</title>
        <style>\(Self.style)</style>
        </head>
        <body>
        <h1>Load test</h1>
        \(Self.paragraphs(facts + [date]))
        \(Self.table(stageTable))
        \(Self.paragraphs(remarks))
        \(charts.map(\.html).joined())
        \(focus.map { Self.table(Self.kindTable($0)) } ?? "")
        \(watchTable.map { Self.table($0) } ?? "")
        <h2>The service meanwhile</h2>
        <div class="pair">\(serverCharts.map(\.html).joined())</div>
        \(samples.count > 1 ? Self.table(changes) : "<p>The service gave no statistics.</p>")
        <h2>How it is measured</h2>
        \(Self.paragraphs(Self.method))
        </body>
        </html>

        """
    }

    /// The service's numbers that the run changed, before and after it.
    private var changes: TextTable {
        var table = TextTable(["server.stats", "before", "after", "change"])
        guard let first = samples.first?.numbers, let last = samples.last?.numbers else {
            return table
        }
        for (name, after) in last.sorted(by: { $0.key < $1.key }) {
            let before = first[name] ?? 0
            guard before != after else { continue }
            let numbers = [before, after, after - before].map { $0.rounded() }
            table.add([name] + numbers.map { Figures.count(Int($0)) })
        }
        return table
    }

    private static let method = [
        "Requests are due at even distances, whether or not earlier ones have been answered (an open "
            + "loop). A latency runs from when its request was due to the end of its answer, so the time "
            + "that a request waits behind a slow one counts, for a free connection too: there is no "
            + "coordinated omission. Requests that failed or were given up are in the percentiles with "
            + "the time they took; none of them keeps an objective.",
        "Percentiles of tables come from HdrHistograms of three significant digits, those over time of "
            + "two. Percentiles over time stand at when their requests were due, answers and failures at "
            + "when they came.",
        "The delay of an event runs from the answer to the write that it tells to its arrival; an event "
            + "that comes before the answer has none. Events that tell no version of an object, as those "
            + "of objects that leave, are counted but not measured, and so is a write that was overtaken "
            + "by the next one before it was told.",
        "How late requests were sent is measured from when they were due and a connection was free. "
            + "The processor time is that of the generator's one event loop.",
    ]

    private static func paragraphs(_ texts: [String]) -> String {
        texts.map { "<p>\(LineChart.escaped($0))</p>" }.joined(separator: "\n")
    }

    private static func table(_ table: TextTable) -> String {
        let rows = table.rows.enumerated().map { number, row in
            let tag = number == 0 ? "th" : "td"
            let cells = row.map { "<\(tag)>\(LineChart.escaped($0))</\(tag)>" }.joined()
            return "<tr>\(cells)</tr>"
        }
        return "<div class=\"across\"><table>\n\(rows.joined(separator: "\n"))\n</table></div>"
    }

    /// Okabe and Ito's colours, which colour-blind people can distinguish; lighter ones on dark.
    private static let palette = [
        ("#0072b2", "#56b4e9"), ("#d55e00", "#f0894b"), ("#009e73", "#2fc79c"),
        ("#cc79a7", "#e09cc2"), ("#8a6d00", "#f0e442"), ("#56b4e9", "#9fd3f5"),
        ("#666666", "#bbbbbb"), ("#e69f00", "#e69f00"), ("#7a4fbf", "#b79cf0"),
        ("#a02c2c", "#e58f8f"),
    ]

    private static let style: String = {
        func variables(_ color: ((String, String)) -> String) -> String {
            palette.enumerated().map { "--c\($0):\(color($1));" }.joined()
        }
        let lines = palette.indices.map {
            ".s\($0){stroke:var(--c\($0))}.d\($0){fill:var(--c\($0))}.c\($0){background:var(--c\($0))}"
        }
        return """
            :root{color-scheme:light dark;--ink:#1d2126;--paper:#fff;--rule:#d9dde2;--band:#f1f3f5;\(variables { $0.0 })}
            @media (prefers-color-scheme:dark){:root{--ink:#e4e7eb;--paper:#15181c;--rule:#3a4047;--band:#1e2227;\(variables { $0.1 })}}
            body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:62rem;margin:2rem auto;padding:0 1rem}
            h1,h2{line-height:1.2}p{margin:.3rem 0;max-width:50rem;overflow-wrap:anywhere}
            .across{overflow-x:auto}
            table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}
            th,td{padding:.2rem .8rem;text-align:right;border-bottom:1px solid var(--rule)}
            th:first-child,td:first-child{text-align:left;padding-left:0}
            figure{margin:1.5rem 0}figcaption span{display:inline-block;margin-left:1.2rem}
            figcaption i{display:inline-block;width:.8rem;height:.8rem;margin-right:.3rem;border-radius:2px}
            svg{display:block;width:100%;height:auto}svg text{font-size:12px;fill:var(--ink)}
            svg line{stroke:var(--rule)}polyline{fill:none;stroke-width:1.8;stroke-linejoin:round}
            @media (max-width:40rem){body{margin:1rem auto}table{font-size:.72rem}th,td{padding:.2rem .2rem}}
            .band{fill:none}.faint{fill:var(--band)}
            .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:0 1.5rem}
            \(lines.joined(separator: "\n"))
            """
    }()
}
