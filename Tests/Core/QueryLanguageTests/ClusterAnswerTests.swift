import Geodesy
import JSONText
import QueryLanguage
import Testing

@Suite struct ClusterAnswerTests {
    private static let objects = Array(#"{"_id":"a1","s":"],{\""},{"_id":"b2"}"#.utf8)
    private static let second = 25..<37

    private static let answers = [
        ClusterAnswer(change: 7, state: "x-7", level: 0, clusters: nil),
        ClusterAnswer(change: .max / 4, state: nil, level: 0, clusters: []),
        ClusterAnswer(
            change: 9, state: "\"", level: 13,
            clusters: [
                .init(
                    GridCell(column: 8_191, row: 0), count: 3,
                    .center(Coordinate(latitude: 85.0511287, longitude: -179.9999999))),
                .init(GridCell(column: 0, row: 1), count: 1, .object(0..<24, places: nil)),
                .init(
                    GridCell(column: 0, row: 8_191), count: 1,
                    .object(
                        second,
                        places: [
                            Coordinate(latitude: -90, longitude: 180),
                            Coordinate(latitude: 0.1, longitude: 1e-7),
                        ])),
            ], objects: objects),
    ]

    @Test(arguments: answers)
    func `What is read is what was written`(answer: ClusterAnswer) throws {
        var writer = JSONWriter()
        answer.write(to: &writer)
        let found = try JSONParser.reading(writer.bytes) { ClusterAnswer($0) }
        #expect(found == answer)
    }

    @Test(arguments: [
        "7", "{}", #"{"change":1,"clusters":[{}]}"#, #"{"change":-1}"#,
        #"{"change":1,"clusters":[{"cell":"1/2","count":1,"object":{}}]}"#,
        #"{"change":1,"clusters":[{"cell":"1/0/0","count":2}]}"#,
    ])
    func `What is no answer is not read as one`(text: String) throws {
        let found = try JSONParser.reading(Array(text.utf8)) { ClusterAnswer($0) }
        #expect(found == nil)
    }
}
