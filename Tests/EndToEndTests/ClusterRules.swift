import Objects
import TestSupport
import Testing

/// `bucket.clusters` and `bucket.fields` over the wire.
@Suite struct ClusterRules {
    private static func clusters(_ members: String) -> String {
        members.isEmpty ? #"{"bucket":"b1"}"# : #"{"bucket":"b1",\#(members)}"#
    }

    @Test func `Counts add up over cells and levels, and a cell of one has its object`()
        async throws
    {
        try await TestService.with { service in
            try await service.store([
                ("a1", #""p":\#(point(59.9, 10.7))"#), ("b1", #""p":\#(point(59.9, 10.7))"#),
                ("c1", #""p":\#(point(-33.9, 151.2)),"n":1"#), ("d1", #""p":\#(point(90, 180))"#),
                ("e1", #""n":2"#),
            ])
            for zoom in [0, 1, 9, 22] {
                let answer = try await service.call(
                    "bucket.clusters", Self.clusters(#""zoom":\#(zoom),"fields":["n"]"#))
                #expect(answer["total"]?.int == 4, "zoom \(zoom)")
            }
            let text = try await service.text(
                "bucket.clusters", Self.clusters(#""zoom":2,"bits":0,"fields":["n"]"#))
            #expect(
                text.contains(
                    #""total":4,"clusters":[{"cell":"2/0/0","count":1,"object":{"_id":"d1"}},"#
                        + #"{"cell":"2/2/1","count":2,"center":{"_type":"point","lat":59."#),
                "\(text)")
            #expect(text.contains(#"{"cell":"2/3/2","count":1,"object":{"_id":"c1","n":1}}]}"#))
            let box = #""box":{"sw":\#(point(50, 0)),"ne":\#(point(70, 20))}"#
            let inside = try await service.call(
                "bucket.clusters", Self.clusters(#""zoom":4,"bits":0,\#(box)"#))
            #expect(inside["total"]?.int == 2)
            let clause = #""bucketQuery":{"clause":{"type":"eq","field":"n","value":1}}"#
            let matching = try await service.call(
                "bucket.clusters", Self.clusters(#""zoom":0,\#(clause)"#))
            #expect(matching["total"]?.int == 1)
        }
    }

    @Test func `A refusal says which member is at fault`() async throws {
        try await TestService.with { service in
            try await service.store([("a1", #""p":\#(point(1, 2))"#)])
            for (members, path) in [
                ("", "zoom"), (#""zoom":-1"#, "zoom"), (#""zoom":23"#, "zoom"),
                (#""zoom":"1""#, "zoom"), (#""zoom":1.5"#, "zoom"),
                (#""zoom":1,"bits":9"#, "bits"), (#""zoom":1,"bits":-1"#, "bits"),
                (#""zoom":1,"field":5"#, "field"), (#""zoom":1,"field":"""#, "field"),
                (#""zoom":1,"box":5"#, "box"), (#""zoom":1,"box":{}"#, "box.ne"),
                (#""zoom":1,"fields":"n""#, "fields"), (#""zoom":1,"cells":1"#, "cells"),
                (#""zoom":1,"bucketQuery":{"clause":{"type":"al"}}"#, "bucketQuery.clause.type"),
                (#""tile":5"#, "tile"), (#""tile":"1/2/0""#, "tile"), (#""tile":"23/0/0""#, "tile"),
                (#""tile":"1/+1/0""#, "tile"), (#""tile":"1/0""#, "tile"),
                (#""tile":"1/0/0","zoom":1"#, "zoom"), (#""tile":"1/0/0","box":{}"#, "box"),
                (#""zoom":1,"objects":-1"#, "objects"), (#""zoom":1,"objects":4097"#, "objects"),
                (#""zoom":1,"ifState":5"#, "ifState"),
            ] {
                let error = try await service.error("bucket.clusters", Self.clusters(members))
                #expect(error?.errorCode == "INVALID_INPUT_DATA", "\(members)")
                #expect(error?.path == path, "\(members)")
            }
            let error = try await service.error("bucket.fields", #"{"bucket":"b1","field":"p"}"#)
            #expect(error?.path == "field")
        }
    }

    @Test func `A tile has exactly its cells, and its objects with their places if they are few`()
        async throws
    {
        try await TestService.with { service in
            try await service.store([
                ("a1", #""p":[\#(point(0, 0)),\#(point(1e-9, -1e-9))]"#),
                ("b1", #""p":\#(point(-1, 1))"#), ("c1", #""p":\#(point(-1, 1))"#),
            ])
            let total = { (tile: String) in
                try await service.call("bucket.clusters", Self.clusters(#""tile":"\#(tile)""#))[
                    "total"]?.int
            }
            // The equator begins the southern tile, the meridian the eastern one.
            #expect(try await total("1/1/1") == 3)
            #expect(try await total("1/0/0") == 1)
            #expect(try await total("1/1/0") == 0)
            let members = #""tile":"1/1/1","bits":0,"fields":[],"objects":"#
            let listed = try await service.text(
                "bucket.clusters", Self.clusters(members + "3"))
            #expect(
                listed.contains(
                    #"{"cell":"1/1/1","count":1,"places":[{"_type":"point","lat":"#
                        + #"0.0,"lon":0.0}],"object":{"_id":"a1"}},{"cell":"1/1/1","#), "\(listed)")
            let counted = try await service.call("bucket.clusters", Self.clusters(members + "2"))
            #expect(counted["clusters"]?.array?.count == 1)
            #expect(counted["clusters"]?.array?.first?["count"]?.int == 3)
        }
    }

    @Test func `A state that is the bucket's is answered alone`() async throws {
        try await TestService.with { service in
            let ask = { (state: String) in
                try await service.call(
                    "bucket.clusters", Self.clusters(#""zoom":0,"ifState":"\#(state)""#))
            }
            try await service.store([("a1", #""p":\#(point(1, 2))"#)])
            let state = try #require(try await ask("")["state"]?.string)
            #expect(try await ask(state)["total"] == nil)
            #expect(try await ask(state)["state"]?.string == state)
            try await service.store([("a1", #""p":\#(point(1, 2))"#)], in: "b2")
            #expect(try await ask(state)["total"] == nil)
            try await service.store([("a1", #""p":\#(point(1, 2))"#)])
            #expect(try await ask(state)["total"]?.int == 1)
        }
    }

    @Test func `More than clusterCells cells are refused`() async throws {
        var limits = Limits()
        limits.clusterCells = 3
        try await TestService.with(limits: limits) { service in
            for count in 1...4 {
                try await service.store([("o\(count)", #""p":\#(point(0, Double(count) * 20))"#)])
                let error = try await service.error(
                    "bucket.clusters", Self.clusters(#""zoom":6"#))
                #expect(error?.path == (count > 3 ? "bits" : nil), "\(count) cells")
            }
            let coarse = try await service.call(
                "bucket.clusters", Self.clusters(#""zoom":0,"bits":0"#))
            #expect(coarse["total"]?.int == 4)
        }
    }

    @Test func `Fields are listed with their types, those in objects too`() async throws {
        try await TestService.with { service in
            try await service.store([
                ("a1", #""p":\#(point(1, 2)),"n":1,"in":{"s":"x"}"#), ("b1", #""n":1.5,"l":[1]"#),
            ])
            let answer = try await service.call("bucket.fields", #"{"bucket":"b1"}"#)
            #expect(answer["objects"]?.int == 2)
            #expect(answer["sampled"]?.int == 2)
            let fields = (answer["fields"]?.array ?? []).map(\.text).sorted()
            #expect(
                fields == [
                    #"{"field":"in","types":{"OBJECT":1}}"#,
                    #"{"field":"in.s","types":{"STRING":1}}"#,
                    #"{"field":"l","types":{"ARRAY":1}}"#,
                    #"{"field":"n","types":{"INTEGER":1,"DECIMAL":1}}"#,
                    #"{"field":"p","types":{"GEOPOINT":1}}"#,
                ])
        }
    }
}
