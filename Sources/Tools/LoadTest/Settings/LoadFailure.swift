/// Why a load test cannot be set up or go on: a sentence for a person.
public struct LoadFailure: Error, Equatable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// Stores the sentence.
    public init(_ description: String) { self.description = description }
}
