/// Why a load test cannot be set up or go on: a sentence for a person.
public struct LoadFailure: Error, Equatable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
