import Objects

/// How records become objects.
public struct ReadingOptions: Sendable {
    /// The field that receives the point of CSV columns or of a GeoJSON geometry.
    public var pointField = "location"
    /// The CSV column of latitudes in degrees; set both this and `longitudeColumn`, or neither.
    public var latitudeColumn: String?
    /// The CSV column of longitudes; see `latitudeColumn`.
    public var longitudeColumn: String?
    /// CSV column whose cells become `_id`.
    public var idColumn: String?
    /// The service's limits, which are checked here before sending.
    public var limits = Limits()
    /// The size limit of one record's text in the file, in bytes, white space included.
    public var recordBytes = 64 * 1_048_576

    /// Points in `location`, no named columns, and the service's default limits.
    public init() {}
}
