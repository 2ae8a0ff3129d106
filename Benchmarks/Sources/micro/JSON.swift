import JSONText
import Objects
import QueryLanguage
import SyntheticData
import Workloads

/// `JSONText` and `QueryLanguage`: from bytes to a query.
func measureParser() {
    let parser = JSONParser()
    let texts = queries(.q4).map {
        Array("{\(QueryDocument.members($0, for: .q4))}".utf8)
    }
    let documents = (0..<500).map { dataset.document(of: $0) }
    var sum = 0
    measure("parser: an object of about 200 bytes", count: 20_000) { number in
        guard let view = try? parser.parse(documents[number % 500]) else { fatalError("no JSON") }
        sum += view.count
    }
    measure("parser: an object and its rating", count: 20_000) { number in
        guard let view = try? parser.parse(documents[number % 500]) else { fatalError("no JSON") }
        sum += view["rating"]?.number?.exactInt ?? 0
    }
    let reader = QueryParser(limits: Limits())
    measure("parser: Q4's params to a query", count: 20_000) { number in
        do {
            let view = try parser.parse(texts[number % texts.count])
            var members = try MemberReader(view)
            sum += try reader.query(from: &members).limit ?? 0
        } catch {
            fatalError("\(error)")
        }
    }
    precondition(sum >= 0)
}

/// `JSONText`: answers.
func measureWriter() {
    let ids = (0..<100).map { Array(Dataset.id($0).utf8) }
    let document = dataset.document(of: 0)
    var writer = JSONWriter(reserving: 1 << 16)
    measure("writer: 100 ids and distances", count: 5_000) { number in
        writer.removeAll()
        for (hit, id) in ids.enumerated() {
            writer.write(atMost: id.count + 40 + JSONCursor.numberBytes) { cursor in
                cursor.raw("{\"_id\":\"")
                id.withUnsafeBufferPointer { cursor.raw($0) }
                cursor.raw("\",\"_calculated\":{\"d\":")
                cursor.millionths(Int64(hit) * 1_234_567 + Int64(number))
                cursor.raw("}},")
            }
        }
    }
    measure("writer: 100 documents of about 200 bytes", count: 5_000) { _ in
        writer.removeAll()
        for _ in 0..<100 {
            writer.raw(document)
            writer.byte(UInt8(ascii: ","))
        }
    }
    precondition(writer.count >= 0)
}
