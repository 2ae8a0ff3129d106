import Geodesy

/// GeoBucket's form of the queries.
public enum QueryDocument {
    /// The members of a request's params besides the bucket.
    public static func members(_ query: WorkloadQuery, for workload: Workload) -> String {
        let position = query.center.coordinate
        let circle =
            #"{"type":"geodistance","field":"location","center":"#
            + point(position.latitude, position.longitude)
            + (workload == .q5 ? "" : #","radius":\#(query.radiusMeters)"#)
            + ([.q7, .q10].contains(workload) ? "}" : #","putDistanceInto":"d"}"#)
        let category = #"{"type":"eq","field":"category","value":"\#(query.categoryName)"}"#
        let rating =
            #"{"type":"range","field":"rating","lowerLimit":\#(Workload.leastRating)}"#
        func all(_ clauses: String...) -> String {
            #"{"type":"and","clauses":[\#(clauses.joined(separator: ","))]}"#
        }
        let nearest = #","orderBy":"_calculated.d""#
        switch workload {
        case .q1, .q8: return document(circle) + #","fields":[]"#
        case .q2: return document(circle, nearest) + #","bestEffortLimit":50,"fields":[]"#
        case .q3, .q11:
            let box = query.box
            return document(
                #"{"type":"geobox","field":"location","box":{"sw":\#(point(box.south, box.west)),"ne":\#(point(box.north, box.east))}}"#
            )
        case .q4:
            return document(all(circle, category, rating), nearest) + #","bestEffortLimit":20"#
        case .q5: return document(circle, nearest) + #","bestEffortLimit":10,"fields":[]"#
        case .q6:
            return document(category, #","orderBy":"rating","descending":true"#)
                + #","bestEffortLimit":20"#
        case .q7: return document(all(circle, category, rating))
        case .q9:
            guard let corridor = query.corridor else {
                preconditionFailure("the query is of another workload")
            }
            return document(clause(corridor), nearest) + #","bestEffortLimit":50,"fields":[]"#
        case .q10:
            let group = #"{"type":"GROUP","field":"category","putAggregationInto":"categories"}"#
            return document(all(circle, rating), #","aggregations":[\#(group)]"#)
        }
    }

    private static func document(_ clause: String, _ rest: String = "") -> String {
        #""bucketQuery":{"clause":\#(clause)\#(rest)}"#
    }

    private static func clause(_ corridor: GeoCorridor) -> String {
        let positions = corridor.line.positions.map { "[\($0.longitude),\($0.latitude)]" }
        let line = #"{"type":"LineString","coordinates":[\#(positions.joined(separator: ","))]}"#
        return #"{"type":"geocorridor","field":"location","line":\#(line),"#
            + #""width":\#(corridor.widthMeters),"putDistanceInto":"d"}"#
    }

    private static func point(_ latitude: Double, _ longitude: Double) -> String {
        #"{"_type":"point","lat":\#(latitude),"lon":\#(longitude)}"#
    }
}
