import Interchange
import Testing

@Suite struct CSVReaderTests {
    private func placed(id: String? = nil) -> ReadingOptions {
        var options = ReadingOptions()
        options.mapping.places = [
            PlaceRule(field: "location", source: .pair(latitude: "lat", longitude: "lon"))
        ]
        if let id { options.mapping.id = .fields([id]) }
        return options
    }

    @Test("Quotes, doubled quotes, commas and line breaks inside quotes are text")
    func quotes() throws {
        let text = "a,b\r\n\"x,\"\"y\"\"\",\"1\n2\r\n3\"\r\nq\"q,\"\"\r\n"
        #expect(
            try lines(text, ".csv")
                == [#"2: {"a":"x,\"y\"","b":"1\n2\r\n3"}"#, #"5: {"a":"q\"q"}"#])
    }

    @Test("A record's number is the physical line it begins on")
    func lineNumbers() throws {
        let text = "a,b\n\n\"\n\n\",1\n\n2,3\n4\n"
        #expect(
            try lines(text, ".csv")
                == [
                    #"3: {"a":"\n\n","b":1}"#, #"7: {"a":"2","b":3}"#,
                    "8! expected 2 cells as in the header, found 1",
                ])
    }

    @Test("A byte order mark, LF or CRLF, and a missing last line break change nothing")
    func lineBreaks() throws {
        for text in ["a,b\n1,x\n", "\u{FEFF}a,b\r\n1,x\r\n", "a,b\r\n1,x", "\"a\",\"b\"\n1,\"x\""] {
            #expect(try lines(text, ".csv") == [#"2: {"a":1,"b":"x"}"#], "\(text.debugDescription)")
        }
        #expect(try lines("a,b\r\n1,\"x\"\r", ".csv") == [#"2: {"a":1,"b":"x"}"#])
    }

    @Test(
        "A column of numbers that lose nothing holds numbers, one of booleans booleans, else texts",
        arguments: [
            ("0", "0"), ("-0.50", "-0.50"), ("1e5", "1e5"), ("1E-7", "1E-7"),
            ("123456789012345", "123456789012345"), ("1234567890123456", nil), ("007", nil),
            ("0.1234567890123456", nil), ("+5", nil), ("1e400", nil), (".5", nil), ("5.", nil),
            ("-", nil), ("1e", nil), ("0x1", nil), (" 5 ", "5"), ("NaN", nil), ("null", nil),
            ("True", "true"), ("FALSE", "false"), ("yes", "true"), ("No", "false"), ("t", "true"),
            ("F", "false"), ("tru", nil), ("東京", nil), ("\\", "\"\\\\\""),
            ("\u{1}", "\"\\u0001\""),
        ] as [(String, String?)])
    func values(_ cell: String, _ json: String?) throws {
        #expect(
            try lines("a,b\n\(cell),x\n", ".csv") == [
                "2: {\"a\":\(json ?? "\"\(cell)\""),\"b\":\"x\"}"
            ])
        let quoted = try lines("a,b\n\"\(cell)\",x\n", ".csv")
        let isEscaped = json?.hasPrefix("\"") ?? false
        let text = isEscaped ? json! : "\"\(cell)\""
        #expect(quoted == ["2: {\"a\":\(text),\"b\":\"x\"}"])
    }

    @Test("One cell that is no number makes a column of texts, one behind the sample is a fault")
    func columns() throws {
        #expect(
            try lines("a,b\n04101,1\n12345,12A\n", ".csv")
                == [#"2: {"a":"04101","b":"1"}"#, #"3: {"a":"12345","b":"12A"}"#])
        let rows = (0..<10_000).map { "\($0)\n" }.joined()
        let found = try lines("a\n" + rows + "x\n7\n", ".csv")
        #expect(found[9_999] == #"10001: {"a":9999}"# && found[10_001] == #"10003: {"a":7}"#)
        #expect(found[10_000].hasPrefix("10002! a: \"x\" is no number"), "\(found[10_000])")
        #expect(found[10_000].contains("--text a"))
    }

    @Test("Empty cells are missing fields, quoted or not")
    func emptyCells() throws {
        #expect(try lines("a,b,c\n,\"\",\n", ".csv") == ["2: {}"])
        #expect(try lines("a\n\"\"\n\n", ".csv") == ["2: {}"])
    }

    @Test("Latitude and longitude columns become a point and no fields")
    func points() throws {
        let text = "lat,name,lon\n35.60,x, 139.7 \n,y,\n"
        #expect(
            try lines(text, ".csv", options: placed())
                == [
                    #"2: {"location":{"_type":"point","lat":35.60,"lon":139.7},"name":"x"}"#,
                    #"3: {"name":"y"}"#,
                ])
        var options = ReadingOptions()
        options.mapping.pointField = "place"
        #expect(
            try lines("lon,lat\n180,-90\n", ".csv", options: options)
                == [#"2: {"place":{"_type":"point","lat":-90,"lon":180}}"#])
    }

    @Test(
        "Half a point, one out of range and one that is no number are refused with their column",
        arguments: [
            ("1,", "lon: half a point"), (",1", "lat: half a point"), ("90.001,0", "lat: "),
            ("0,-180.5", "lon: "), ("north,139", "lat: "), ("1,true", "lon: "),
        ])
    func badPoints(_ row: String, _ reason: String) throws {
        var options = placed()
        options.skipsErrors = true
        let found = try lines("lat,lon\n\(row)\n0,0\n", ".csv", options: options)
        #expect(found[0].hasPrefix("2! " + reason), "\(found[0])")
        #expect(found[1].hasPrefix("3: "))
    }

    @Test("Columns F.lat and F.lon are the GeoPoint F without being named")
    func suffixedPoints() throws {
        #expect(
            try lines("p.lat,p.lon,q.lat\n1,2,3\n", ".csv")
                == [#"2: {"p":{"_type":"point","lat":1,"lon":2},"q.lat":3}"#])
    }

    @Test("A record has a point or a value of the same name, not both")
    func rivals() throws {
        let text = "p.lat,p,p.lon\n1,,2\n,x,\n1,x,2\n1,x,\n,,\n"
        #expect(
            try lines(text, ".csv") == [
                #"2: {"p":{"_type":"point","lat":1,"lon":2}}"#, #"3: {"p":"x"}"#,
                "4! p: the record has a field and a place of this name; --point or --place names the "
                    + "place, --rename or --without changes the field",
                "5! p.lon: half a point: this is empty, its other half is not", "6: {}",
            ])
    }

    @Test("The id column, or one called _id, becomes a valid _id whatever it looks like")
    func ids() throws {
        let found = try lines(
            "lat,lon,no\n1,2,0042\n1,2,x\n1,2,\n", ".csv", options: placed(id: "no"))
        #expect(found[0].hasPrefix(#"2: {"_id":"0042","#) && found[0].hasSuffix(#","no":"0042"}"#))
        #expect(found[1].hasPrefix(#"3: {"_id":"_78","#))
        #expect(found[2] == #"4: {"location":{"_type":"point","lat":1,"lon":2}}"#)
        #expect(try lines("_id,a\n123,1\n", ".csv") == [#"2: {"_id":"123","a":1}"#])
    }

    @Test(
        "A header that makes no valid object is refused",
        arguments: [
            ("a,a", "twice"), ("a,,column2", "twice"), ("a,\"b", "quotes"), ("", "empty"),
            ("a.lat,a.lon,a.lat", "twice"),
        ])
    func badHeaders(_ header: String, _ reason: String) {
        #expect(refusal(header, ".csv")?.contains(reason) == true)
    }

    @Test("Names of columns are compared as code points, as names of fields are")
    func codePoints() throws {
        let (composed, decomposed) = ("\u{E1}", "a\u{301}")
        let found = try lines("\(composed),\(decomposed)\n1,2\n", ".csv")
        #expect(
            found.map { Array($0.utf8) } == [
                Array("2: {\"\(composed)\":1,\"\(decomposed)\":2}".utf8)
            ])
        var options = ReadingOptions()
        options.mapping.id = .fields([decomposed])
        let named = try lines("\(composed),\(decomposed)\n1,ab\n", ".csv", options: options)
        #expect(
            named.map { Array($0.utf8) } == [
                Array("2: {\"_id\":\"ab\",\"\(composed)\":1,\"\(decomposed)\":\"ab\"}".utf8)
            ])
    }

    @Test("A header that is not UTF-8 is refused")
    func headerEncoding() {
        let content = TemporaryFile(Array("é,".utf8) + [0xE9, 0x0A], suffix: ".csv")
        #expect {
            try lines(of: RecordFile(path: content.path, format: nil))
        } throws: { "\($0)".contains("header row is not valid UTF-8") }
    }

    @Test("Columns of predefined fields go along, so an exported table loads")
    func predefinedColumns() throws {
        #expect(
            try lines("_id,_version,n\nabc,3,7\n", ".csv")
                == [#"2: {"_id":"abc","_version":3,"n":7}"#])
    }

    @Test("Options that name no column are refused with the nearest names")
    func badOptions() {
        #expect(refusal("a,lat\n1,2\n", ".csv", options: placed())?.contains("\"lon\"") == true)
        let refused = refusal("nom,lat,lon\nx,1,2\n", ".csv", options: placed(id: "name"))
        #expect(refused?.contains("\"name\"") == true && refused?.contains("\"nom\"") == true)
        var options = ReadingOptions()
        options.table.types = ["zap": .text]
        #expect(refusal("zip,b\n1,2\n", ".csv", options: options)?.contains("\"zip\"") == true)
    }

    @Test("Broken quotes are a fault of their record")
    func brokenQuotes() throws {
        #expect(
            try lines("a,b\n\"x\"y,1\n2,3\n", ".csv")
                == [
                    "2! there is text between a closing quote and the separator",
                    #"3: {"a":2,"b":3}"#,
                ])
        #expect(
            try lines("a,b\n1,2\n\"x,1\n2,3\n", ".csv")
                == [
                    #"2: {"a":1,"b":2}"#, "3! a quote that opens in this record is never closed",
                    #"4: {"a":2,"b":3}"#,
                ])
    }

    @Test("Cells that are not UTF-8 are a fault of their record")
    func encoding() throws {
        let content = TemporaryFile(
            Array("a\n".utf8) + [0xE9, 0x0A] + Array("é\n".utf8), suffix: ".csv")
        #expect(
            try lines(of: RecordFile(path: content.path, format: nil))
                == [
                    "2! the text is not valid UTF-8; --encoding windows-1252 or utf-16 says what it is",
                    "3: {\"a\":\"é\"}",
                ])
    }

    @Test("An object may have as many bytes as the service stores, _id not counted")
    func sizeLimit() throws {
        var options = ReadingOptions()
        options.limits.objectBytes = 20
        let cell = String(repeating: "x", count: 12)  // {"a":"xxxxxxxxxxxx"}
        let found = try lines("_id,a\nid-1,\(cell)\nid-2,\(cell)x\n", ".csv", options: options)
        #expect(found[0] == "2: {\"_id\":\"id-1\",\"a\":\"\(cell)\"}")
        #expect(found[1].hasPrefix("3! ") && found[1].contains("at most 20"))
    }

    @Test("A file whose lines end in a carriage return alone is refused; in quotes it is text")
    func carriageReturns() throws {
        for text in ["a,b\r1,2\r3,4\r", "a\r1\r", "\ra,b\r1,2", "a\r\r\n1\n"] {
            #expect(refusal(text, ".csv")?.contains("carriage return") == true, "\(text)")
        }
        #expect(refusal("\"a\",\"b\"\r1,2\r", ".csv") != nil)
        #expect(try lines("\"a\rb\"\n1\n", ".csv") == [#"2: {"a\rb":1}"#])
    }

    @Test("Tabs separate in .tsv, and commas are text")
    func tabs() throws {
        #expect(try lines("a\tb\n1,5,6\t2\n", ".tsv") == [#"2: {"a":"1,5,6","b":2}"#])
    }

    @Test("Records across the edges of the buffer are read whole")
    func bufferEdges() throws {
        let numbers = 2...40_000
        let text =
            "n,s\n"
            + numbers.map { "\($0),\"\(String(repeating: "é", count: $0 % 91))x\"\r\n" }.joined()
        let expected = numbers.map {
            "\($0): {\"n\":\($0),\"s\":\"\(String(repeating: "é", count: $0 % 91))x\"}"
        }
        #expect(try lines(text, ".csv") == expected)
    }
}
