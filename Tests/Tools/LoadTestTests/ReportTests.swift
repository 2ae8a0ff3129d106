import Foundation
import FoundationXML
import TestSupport
import Testing

@testable import LoadTest

@Suite struct ReportTests {
    /// A report of two rates, one stalled, with an error and what a page would choke on.
    private static func report(bucket: String = "b1", scale: Double = 1) throws -> LoadReport {
        var settings = LoadSettings(
            plan: .ramp(from: 1_000, to: 2_000, step: 1_000),
            requests: RequestSettings(bucket: bucket, mix: try Mix("radius=3,move=1")))
        settings.objective = try Objective("p99=5ms")
        var report = LoadReport(
            date: "2026-01-01T00:00:00Z",
            setup: .init(server: "127.0.0.1:4362", version: "0.1.0", objects: 12_345, settings))
        var random = SplitMix64(seed: 9)
        var timeline = Timeline(begin: 0, seconds: 1)
        for (number, rate) in [1_000.0, 1_000, 2_000].enumerated() {
            var record = StageRecord()
            let schedule = ArrivalSchedule(
                begin: UInt64(number) * 4_000_000_000, rate: rate, seconds: 3)
            record.begin = schedule.begin
            record.end = schedule.begin + 3_000_000_000
            record.threadCPU = 500_000_000
            for request in 0..<schedule.count {
                let kind: RequestKind = random.oneIn(4) ? .move : .radius
                let isSlow = number == 2 && random.oneIn(20)
                let latency = UInt64((random.number(0.2...0.9) + (isSlow ? 20 : 0)) * 1e6 * scale)
                let due = schedule.due(request)
                let error = random.oneIn(1_000) ? "TOO_MANY_REQUESTS" : nil
                record.tallies[kind, default: Tally()].record(latency, error: error)
                record.lags.record(20_000)
                timeline.record(due: due, end: due + latency, failed: error != nil)
            }
            report.stages.append(
                .init(
                    record, rate: rate, isWarmUp: number == 0, since: 0,
                    isHeld: number == 0 ? nil : settings.objective!.isHeld(by: record.total)))
        }
        report.highestRateHeld = 1_000
        report.timeline = timeline.intervals.map { LoadReport.Interval($0) }
        report.samples = (0..<12).map { second in
            let time = Double(second)
            let numbers: [String: Double] = [
                "requests.bucket.query.count": time * 800, "change": time * 200,
                "memory.residentBytes": 5e7 + time * 1e6, "cpuSeconds": time * 0.4,
            ]
            return LoadReport.Sample(seconds: time, numbers: numbers)
        }
        return report
    }

    @Test func `A report is the same after a way through JSON`() throws {
        let report = try Self.report()
        let json = try report.json()
        #expect(try LoadReport(json: json) == report)
        #expect(try LoadReport(json: json).json() == json)
    }

    @Test(arguments: ["", "{}", "[1]", #"{"format":"other"}"#])
    func `What is no report is refused`(_ text: String) {
        #expect(throws: LoadFailure.self) { try LoadReport(json: Array(text.utf8)) }
    }

    @Test(arguments: [
        ("a,b\n1,2\n", "it is no JSON object"), ("[1]", "it is no JSON object"),
        ("{}", "format is missing"), (#"{"format":1}"#, "format has no value of the right type"),
    ])
    func `What is no report is refused with a reason for people`(
        _ text: String, _ reason: String
    ) {
        let failure = #expect(throws: LoadFailure.self) { try LoadReport(json: Array(text.utf8)) }
        #expect(failure?.description == "it is no report of a load test: \(reason)")
    }

    @Test func `A report of another version is refused`() throws {
        var report = try Self.report()
        report.format = "geobucket-loadtest-0"
        let json = try report.json()
        #expect(throws: LoadFailure.self) { try LoadReport(json: json) }
    }

    @Test func `The page is well-formed and has a picture of everything`() throws {
        let page = try Self.report(bucket: "a<b>&\"c\"").html
        let elements = Elements()
        let parser = XMLParser(data: Data(page.utf8))
        parser.delegate = elements
        #expect(
            parser.parse(), "\(String(describing: parser.parserError)) line \(parser.lineNumber)")
        // Latency and rate over time, latency by rate, distribution; four of the service.
        #expect(elements.counts["svg"] == 8)
        #expect(elements.counts["table"] == 3)
        #expect(elements.counts["polyline"]! >= 4 + 3 + 3 + 3 + 4)
        #expect(page.contains("prefers-color-scheme:dark"))
    }

    @Test func `The page asks for nothing from elsewhere and runs nothing`() throws {
        let page = try Self.report().html
        for part in [
            "http:", "https:", "//", "src=", "href", "url(", "@import", "<script", "<link",
        ] {
            #expect(!page.contains(part), "\(part)")
        }
    }

    @Test func `No number of the page is out of the picture or no number`() throws {
        var report = try Self.report()
        report.timeline[1] = .init(due: 0, answered: 0, failed: 0)
        let page = report.html
        #expect(!page.contains("nan") && !page.contains("inf"))
        for match in page.matches(of: /points="([^"]*)"/) {
            for point in match.output.1.split(separator: " ") {
                let numbers = point.split(separator: ",").compactMap { Double($0) }
                #expect(numbers.count == 2)
                #expect(numbers.allSatisfy { $0 >= 0 && $0 <= 960 }, "\(point)")
            }
        }
    }

    @Test func `No name in a picture is cut off at its edge`() throws {
        // Enough requests for the distribution to end at 99.99 %.
        let page = try Self.report().html
        #expect(page.contains(">99.9 %</text>"))
        var axis = Axis.nines([99.99])
        var chart = LineChart(
            title: "t", across: axis, acrossName: "", up: .linear([1]), upName: "", lines: [])
        var pages = [page, chart.html]
        axis = .nines([99.999])
        (chart.across, chart.width) = (axis, 470)
        pages.append(chart.html)
        for page in pages {
            for picture in page.matches(of: /viewBox="0 0 ([\d.]+) [^>]*>([\s\S]*?)<\/svg>/) {
                let width = try #require(Double(picture.1))
                let texts = picture.2.matches(
                    of: /<text x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)">([^<]*)</)
                #expect(!texts.isEmpty)
                for text in texts {
                    // No character of 12 px is wider than 8 on average.
                    let (at, wide) = (Double(text.1) ?? -1, 8 * Double(text.3.count))
                    let left = at - (text.2 == "middle" ? wide / 2 : text.2 == "end" ? wide : 0)
                    #expect(left >= 0 && left + wide <= width, "\(text.3) at \(at) of \(width)")
                }
            }
        }
    }

    @Test func `What is wider than a narrow screen is moved across by itself`() throws {
        let page = try Self.report().html
        for element in ["<table>", "<svg "] {
            for position in page.ranges(of: element) {
                #expect(page[..<position.lowerBound].hasSuffix(#"<div class="across">"#))
            }
        }
        #expect(page.contains(".across{overflow-x:auto}"))
    }

    @Test func `A run that saw nothing still has its reports`() throws {
        let full = try Self.report()
        let report = LoadReport(date: full.date, setup: full.setup)
        #expect(report.text.contains("No rate held p99=5ms"))
        #expect(XMLParser(data: Data(report.html.utf8)).parse())
        #expect(try LoadReport(json: report.json()) == report)
    }

    @Test func `The text has the rates, the verdicts, the failures and the generator's own cost`()
        throws
    {
        let report = try Self.report()
        let lines = report.text.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("1,000 ") && $0.hasSuffix(" held") })
        #expect(lines.contains { $0.hasPrefix("2,000 ") && $0.hasSuffix(" not held") })
        #expect(
            lines.contains { $0.hasPrefix("radius ") } && lines.contains { $0.hasPrefix("move ") })
        #expect(report.text.contains("failed with TOO_MANY_REQUESTS"))
        #expect(report.text.contains("The highest rate that held p99=5ms was 1,000/s"))
        #expect(report.text.contains("0.5 s of processor time"))
        #expect(report.text.contains("The service kept 0.4 processors busy, 500 µs a request."))
    }

    @Test func `A service that is started anew in a stage has the cost that both counted`() throws {
        var report = try Self.report()
        let stage = report.stages[1]
        let whole = try #require(report.serviceCost(in: stage))
        let second = stage.begin + stage.seconds / 2
        for position in report.samples.indices where report.samples[position].seconds > second {
            for name in ["cpuSeconds", "requests.bucket.query.count"] {
                report.samples[position].numbers[name]! -= report.samples[5].numbers[name]!
            }
        }
        let cost = try #require(report.serviceCost(in: stage))
        #expect(abs(cost.processors - whole.processors) < 1e-9)
        #expect(abs(cost.microsecondsPerRequest - whole.microsecondsPerRequest) < 1e-9)
    }

    @Test func `A comparison sets the same rates side by side`() throws {
        let text = Comparison(try Self.report(), try Self.report(scale: 1.5)).text
        let lines = text.split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true)
        }
        let row = lines.first { $0.starts(with: ["all,", "p50", "ms"]) }
        #expect(row?.suffix(2) == ["+50", "%"] || row?.suffix(2) == ["+50.1", "%"], "\(text)")
        #expect(text.contains("A at 1,000/s") && text.contains("A at 2,000/s"))
    }

    @Test(arguments: [
        (0, "0"), (0.01234, "0.0123"), (0.5, "0.5"), (1, "1"), (9.996, "10"), (12.34, "12.3"),
        (999.6, "1,000"), (1_234_567, "1,234,567"), (-2.5, "−2.5"), (0.000_001, "0"),
    ])
    func `Numbers have three significant digits`(_ value: Double, _ text: String) {
        #expect(Figures.number(value) == text)
    }
}

private final class Elements: NSObject, XMLParserDelegate {
    var counts: [String: Int] = [:]

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) { counts[name, default: 0] += 1 }
}
