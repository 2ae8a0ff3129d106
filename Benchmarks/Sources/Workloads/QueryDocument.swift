/// GeoBucket's form of the queries.
public enum QueryDocument {
    /// The members of a request's params besides the bucket.
    public static func members(_ query: WorkloadQuery, for workload: Workload) -> String {
        let position = query.center.coordinate
        let circle =
            #"{"type":"geodistance","field":"location","center":"#
            + point(position.latitude, position.longitude)
            + (workload == .q5 ? "" : #","radius":\#(query.radiusMeters)"#)
            + (workload == .q7 ? "}" : #","putDistanceInto":"d"}"#)
        let category = #"{"type":"eq","field":"category","value":"\#(query.categoryName)"}"#
        let rating =
            #"{"type":"range","field":"rating","lowerLimit":\#(Workload.leastRating)}"#
        let filtered = #"{"type":"and","clauses":[\#(circle),\#(category),\#(rating)]}"#
        let nearest = #","orderBy":"_calculated.d""#
        switch workload {
        case .q1, .q8: return document(circle) + #","fields":[]"#
        case .q2: return document(circle, nearest) + #","bestEffortLimit":50,"fields":[]"#
        case .q3:
            let box = query.box
            return document(
                #"{"type":"geobox","field":"location","box":{"sw":\#(point(box.south, box.west)),"ne":\#(point(box.north, box.east))}}"#
            )
        case .q4: return document(filtered, nearest) + #","bestEffortLimit":20"#
        case .q5: return document(circle, nearest) + #","bestEffortLimit":10,"fields":[]"#
        case .q6:
            return document(category, #","orderBy":"rating","descending":true"#)
                + #","bestEffortLimit":20"#
        case .q7: return document(filtered)
        }
    }

    private static func document(_ clause: String, _ order: String = "") -> String {
        #""bucketQuery":{"clause":\#(clause)\#(order)}"#
    }

    private static func point(_ latitude: Double, _ longitude: Double) -> String {
        #"{"_type":"point","lat":\#(latitude),"lon":\#(longitude)}"#
    }
}
