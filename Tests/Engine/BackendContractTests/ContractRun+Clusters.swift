import JSONText
import TestSupport
import Testing

extension ContractRun {
    /// Clusters of a query's matches on random levels, in the world or in a box, against the oracle.
    mutating func checkClusters(
        _ query: GeneratedQuery, _ expected: [OracleResult], on client: some ContractClient
    ) async throws {
        let field = random.pick(["loc", "spots", "home.loc", "mix", "alt"])
        let (zoom, bits) = (random.below(23), random.below(9))
        var members = [
            #""bucket":"\#(bucketName)","field":"\#(field)","zoom":\#(zoom),"bits":\#(bits)"#
        ]
        let takesAll = random.oneIn(4)
        let objects = takesAll ? bucket.objects : expected.map(\.object)
        if !takesAll { members.append(#""bucketQuery":{"clause":\#(query.clauseText)}"#) }
        var box: JSONValue?
        var tile: [Int]?
        let tiles = OracleClusters(field: field, zoom: zoom, bits: 0).cells(of: objects)
        if !tiles.isEmpty, random.oneIn(3) {
            tile = random.pick(tiles).name.split(separator: "/").dropFirst().map { Int($0)! }
            members[0] = members[0].replacing(
                "\"zoom\":\(zoom)", with: "\"tile\":\"\(zoom)/\(tile![0])/\(tile![1])\"")
        } else if random.oneIn(2) {
            box = ClauseGenerator(objects: self.objects, bucket: bucket).box(&random)["box"]
            members.append(#""box":\#(box!.text)"#)
        }
        members.append(#""fields":["n"]"#)
        let listed = random.pick([nil, 0, 3, 4_096])
        if let listed { members.append(#""objects":\#(listed)"#) }
        let params = "{\(members.joined(separator: ","))}"
        let context: Comment = "seed \(seed), \(params)"
        let cells = OracleClusters(field: field, zoom: zoom, bits: bits, box: box, tile: tile)
            .cells(of: objects)
        let answer = try await client.value("bucket.clusters", params)
        let total = cells.reduce(0) { $0 + $1.objects.count }
        #expect(answer["total"]?.int == total, context)
        let clusters = answer["clusters"]?.array ?? []
        if let listed {
            for cluster in clusters where cluster["object"] != nil {
                let id = cluster["object"]?["_id"]?.string
                let object = objects.filter { $0.id == id }
                let cell = OracleClusters(field: field, zoom: zoom, bits: bits).cells(of: object)
                    .first { $0.name == cluster["cell"]?.string }
                let places = cluster["places"]?.array?.map(OracleClusters.column(andRowOf:)) ?? []
                #expect(Set(places) == Set(cell?.points.map { [$0.x, $0.y] } ?? []), context)
                #expect(cluster["count"]?.int == 1, context)
            }
            if total <= listed {
                let expected = cells.flatMap { cell in
                    cell.objects.map { "\(cell.name) \($0.id)" }
                }
                let found = clusters.map {
                    "\($0["cell"]?.string ?? "") \($0["object"]?["_id"]?.string ?? "")"
                }
                #expect(found.sorted() == expected.sorted(), context)
                let names = cells.flatMap { cell in cell.objects.map { _ in cell.name } }
                #expect(clusters.map { $0["cell"]?.string } == names, context)
                return
            }
        }
        #expect(clusters.map { $0["cell"]?.string } == cells.map(\.name), context)
        guard clusters.count == cells.count else { return }
        for (cluster, cell) in zip(clusters, cells) {
            #expect(cluster["count"]?.int == cell.objects.count, context)
            if cell.objects.count == 1 {
                #expect(cluster["object"]?["_id"]?.string == cell.objects[0].id, context)
                let n = cell.objects[0].whole.field("n")
                #expect(cluster["object"]?["n"]?.text == n?.text, context)
            } else {
                let (latitude, longitude) = cell.center
                let center = cluster["center"]
                #expect(abs((center?["lat"]?.double ?? 999) - latitude) < 1e-6, context)
                #expect(abs((center?["lon"]?.double ?? 999) - longitude) < 1e-6, context)
            }
        }
    }

    /// The fields of all objects that a path leads to, and their types.
    func checkFields(on client: some ContractClient) async throws {
        var expected: [String: [String: Int]] = [:]
        func add(_ value: JSONValue, _ path: String, besides top: Set<String>) {
            let type = value.fieldType
            expected[path, default: [:]][type, default: 0] += 1
            guard type == "OBJECT", case .object(let members) = value else { return }
            // Of duplicates the last counts.
            let last = Dictionary(members.map { ($0.name, $0.value) }) { $1 }
            for (name, value) in last where !name.contains(".") && !top.contains("\(path).\(name)")
            {
                add(value, "\(path).\(name)", besides: top)
            }
        }
        for object in bucket.objects {
            guard case .object(let members) = object.document else { continue }
            let top = Set(members.map(\.name))
            for member in members {
                guard member.name.contains(".") else {
                    add(member.value, member.name, besides: top)
                    continue
                }
                // No path leads to what is in it.
                expected[member.name, default: [:]][member.value.fieldType, default: 0] += 1
            }
        }
        let answer = try await client.value("bucket.fields", #"{"bucket":"\#(bucketName)"}"#)
        #expect(answer["objects"]?.int == bucket.objects.count, "seed \(seed)")
        #expect(answer["sampled"]?.int == bucket.objects.count, "seed \(seed)")
        var found: [String: [String: Int]] = [:]
        for field in answer["fields"]?.array ?? [] {
            guard case .object(let types)? = field["types"] else { continue }
            found[field["field"]!.string!] = Dictionary(
                uniqueKeysWithValues: types.map { ($0.name, $0.value.int!) })
        }
        #expect(found == expected, "seed \(seed)")
    }
}
