import Objects
import QueryLanguage
import ServiceDesk

/// What is known of a collection's objects: its geo field, and their other fields with their types.
public struct CollectionShape: Sendable {
    /// The field whose points are the geometries.
    public let geoField: FieldPath
    /// All fields of the bucket that hold points.
    private let geoFields: Set<FieldPath>
    /// The fields that the objects have, nested ones too, without those that the service sets.
    public let fields: [SurveyedField]

    /// Stores its arguments.
    public init(geoField: FieldPath, geoFields: [FieldPath] = [], fields: [SurveyedField]) {
        (self.geoField, self.fields) = (geoField, fields)
        self.geoFields = Set(geoFields + [geoField])
    }

    /// The same collection with the geo fields that its bucket has by now.
    ///
    /// - Throws: 404 if the collection is gone.
    public func having(
        _ geoFields: GeoFields, as name: CollectionName
    ) throws(WebFailure) -> CollectionShape {
        CollectionShape(
            geoField: try geoFields.field(of: name), geoFields: geoFields.all, fields: fields)
    }

    /// The clause of a filter in CQL2.
    ///
    /// - Throws: 400 for the parameter `filter`.
    public func clause(cql2 text: String, _ limits: Limits) throws(WebFailure) -> Clause {
        let places = SpatialFields(geometry: geoField, places: geoFields) { [fields] name in
            fields.contains { $0.path.utf8.elementsEqual(name.utf8) }
        }
        do throws(FilterSyntaxError) {
            return try CQL2Filter.clause(text, limits, places: places).readingBooleans(of: booleans)
        } catch {
            throw .invalid(error.line, at: "filter")
        }
    }

    /// The fields that hold nothing but booleans.
    private var booleans: Set<FieldPath> {
        Set(
            fields.filter { Set($0.types).subtracting([.null]) == [.boolean] }
                .map { FieldPath($0.path) })
    }
}

extension Clause {
    /// Whether it compares some field with 0 or 1.
    var comparesWithBits: Bool {
        func isBit(_ literal: Literal) -> Bool {
            switch literal {
            case .number(.integer(0)), .number(.integer(1)): true
            default: false
            }
        }
        return switch self {
        case .eq(_, let literal): isBit(literal)
        case .isIn(_, let literals): literals.contains(where: isBit)
        case .and(let clauses), .or(let clauses): clauses.contains(where: \.comparesWithBits)
        case .not(let clause): clause.comparesWithBits
        default: false
        }
    }

    /// The clause with `TRUE` and `FALSE` for 1 and 0 beside fields that hold nothing but booleans, as
    /// GDAL writes them.
    fileprivate func readingBooleans(of fields: Set<FieldPath>) -> Clause {
        func read(_ literal: Literal) -> Literal {
            switch literal {
            case .number(.integer(0)): .bool(false)
            case .number(.integer(1)): .bool(true)
            default: literal
            }
        }
        switch self {
        case .eq(let field, let literal) where fields.contains(field):
            return .eq(field, read(literal))
        case .isIn(let field, let literals) where fields.contains(field):
            return .isIn(field, literals.map(read))
        case .and(let clauses): return .and(clauses.map { $0.readingBooleans(of: fields) })
        case .or(let clauses): return .or(clauses.map { $0.readingBooleans(of: fields) })
        case .not(let clause): return .not(clause.readingBooleans(of: fields))
        default: return self
        }
    }
}
