import TestSupport
import Testing

/// Writes of many objects, each whole or not at all, and deletions of many.
@Suite struct ManyWriteRules {
    private func many(_ objects: String) -> String { #"{"bucket":"b1","objects":[\#(objects)]}"# }

    @Test func `A write of many answers ids and versions in its order`() async throws {
        try await TestService.with { service in
            try await service.store(["o2": #""a":1"#])
            let answer = try await service.call(
                "object.putMany", many(#"{"_id":"o1"},{"b":1},{"_id":"o2"},{"_version":7}"#))
            #expect(answer.names == ["objects"])
            let objects = try #require(answer["objects"]?.array)
            #expect(objects.allSatisfy { $0.names == ["_id", "_version"] })
            #expect(objects.map { $0["_version"]?.int } == [1, 1, 2, 1])
            #expect([objects[0]["_id"], objects[2]["_id"]] == [.string("o1"), .string("o2")])
            let made = try #require(objects[1]["_id"]?.string)
            #expect(made.count == 36)
            #expect(try await service.get(made)["b"] == .int(1))
            #expect(try await service.get("o2")["a"] == nil)
            #expect(try await service.ids().count == 4)
        }
    }

    @Test func `Of many objects with one at fault none is kept`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""a":1"#])
            let long = String(repeating: "x", count: 70_000)
            for (objects, outcome) in [
                (
                    #"{"_id":"o1","a":2},{"_id":"n1"},{"a":[{"_type":"point"}]}"#,
                    "INVALID_INPUT_DATA objects[2].a[0].lat"
                ),
                (
                    #"{"_id":"o1","a":2},{"_id":"n1"},{"_id":"o1"}"#,
                    "INVALID_INPUT_DATA objects[2]._id"
                ),
                (#"{"_id":"n1"},{"_id":"n1"}"#, "INVALID_INPUT_DATA objects[1]._id"),
                (#"{"_id":"o1","a":2},{"_id":5}"#, "INVALID_OBJECT_ID objects[1]._id"),
                (#"{"_id":"o1","a":2},{"_id":"x"}"#, "INVALID_OBJECT_ID objects[1]._id"),
                (#"{"_id":"o1","a":2},{"a":"\#(long)"}"#, "OBJECT_TOO_LARGE objects[1]"),
                (#"{"_id":"o1","a":2},7"#, "INVALID_INPUT_DATA objects[1]"),
            ] {
                #expect(try await service.outcome("object.putMany", many(objects)) == outcome)
            }
            for bad in ["{}", "null", "\"x\""] {
                let params = #"{"bucket":"b1","objects":\#(bad)}"#
                #expect(
                    try await service.outcome("object.putMany", params)
                        == "INVALID_INPUT_DATA objects")
            }
            #expect(
                try await service.outcome("object.putMany", #"{"bucket":"b1"}"#)
                    == "INVALID_INPUT_DATA objects")
            #expect(try await service.ids() == ["o1"])
            #expect(try await service.getText("o1").hasSuffix(#""_version":1,"a":1}"#))
        }
    }

    @Test func `A write of no objects does nothing`() async throws {
        try await TestService.with { service in
            #expect(try await service.text("object.putMany", many("")) == #"{"objects":[]}"#)
            try await service.store(["o1": ""])
            #expect(try await service.text("object.putMany", many("")) == #"{"objects":[]}"#)
            #expect(try await service.ids() == ["o1"])
        }
    }

    @Test func `deleteWhere removes what satisfies its clause and counts it`() async throws {
        try await TestService.with { service in
            try await service.store((0..<20).map { ("i\($0)", "\"n\":\($0)") })
            func delete(_ query: String, in bucket: String = "b1") async throws -> String {
                try await service.text(
                    "bucket.deleteWhere", #"{"bucket":"\#(bucket)","bucketQuery":\#(query)}"#)
            }
            let below5 = #"{"clause":{"type":"range","field":"n","upperLimit":4}}"#
            #expect(try await delete(below5) == #"{"deleted":5}"#)
            #expect(try await delete(below5) == #"{"deleted":0}"#)
            #expect(try await service.ids() == (5..<20).map { "i\($0)" })
            #expect(
                try await delete(#"{"clause":{"type":"eq","field":"m","value":1}}"#)
                    == #"{"deleted":0}"#)
            #expect(try await delete("{}") == #"{"deleted":15}"#)
            #expect(try await delete("{}", in: "b9") == #"{"deleted":0}"#)
            #expect(try await service.ids() == [])
            let list = try await service.text("bucket.list")
            #expect(list == #"{"buckets":[{"bucket":"b1","objects":0,"geoFields":[]}]}"#)
        }
    }

    @Test func `deleteWhere sees the writes before it on its connection`() async throws {
        try await TestService.with { service in
            try RawConnection.with(port: service.port) { raw in
                var text = ""
                for number in 0..<200 {
                    let target = #""params":{"bucket":"b1""#
                    text +=
                        #"{"jsonrpc":"2.0","id":1,"method":"object.create",\#(target),"object":{"n":\#(number)}}}"#
                        + "\n"
                    if number % 10 == 9 {
                        text +=
                            #"{"jsonrpc":"2.0","id":"d","method":"bucket.deleteWhere",\#(target),"bucketQuery":{}}}"#
                            + "\n"
                    }
                }
                try raw.send(text)
                try raw.finishSending()
                let deletions = try raw.remainingLines().filter { $0.contains(#""id":"d""#) }
                #expect(deletions.count == 20)
                #expect(deletions.allSatisfy { $0.contains(#"{"deleted":10}"#) })
            }
        }
    }

    @Test func `deleteWhere needs a query, so that nothing is deleted by omission`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": ""])
            #expect(
                try await service.outcome("bucket.deleteWhere", #"{"bucket":"b1"}"#)
                    == "INVALID_INPUT_DATA bucketQuery")
            #expect(
                try await service.outcome(
                    "bucket.deleteWhere", #"{"bucket":"b1","bucketQuery":{"clause":null}}"#)
                    == "INVALID_INPUT_DATA bucketQuery.clause")
            #expect(try await service.ids() == ["o1"])
        }
    }

    @Test func `A deleted bucket is gone with its objects, and may be made anew`() async throws {
        try await TestService.with { service in
            try await service.store(["o1": #""p":\#(point(1, 1))"#, "o2": ""])
            let params = #"{"bucket":"b1"}"#
            #expect(try await service.text("bucket.delete", params) == #"{"deleted":2}"#)
            #expect(try await service.outcome("bucket.delete", params) == "BUCKET_NOT_FOUND bucket")
            #expect(try await service.text("bucket.list") == #"{"buckets":[]}"#)
            #expect(
                try await service.outcome("object.get", #"{"bucket":"b1","id":"o1"}"#)
                    == "OBJECT_NOT_FOUND")
            let answer = try await service.put("o1", "{}")
            #expect(answer["_version"] == .int(1))
            #expect(try await service.ids() == ["o1"])
            try await service.call("bucket.deleteWhere", #"{"bucket":"b1","bucketQuery":{}}"#)
            #expect(try await service.text("bucket.delete", params) == #"{"deleted":0}"#)
        }
    }
}
