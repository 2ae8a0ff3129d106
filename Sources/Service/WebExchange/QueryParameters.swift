/// The parameters by which paths of the web port ask for objects.
extension WebRequest {
    /// Refuses parameters that a path does not take, or that stand twice.
    public func check(_ known: Set<String>) throws(WebFailure) {
        try checkParameterCount()
        var seen: Set<String> = []
        for (name, _) in query {
            guard known.contains(name) else {
                let names = known.sorted().joined(separator: ", ")
                throw .invalid("there is no such parameter; there are \(names)", at: name)
            }
            guard seen.insert(name).inserted else {
                throw .invalid("the parameter stands here twice", at: name)
            }
        }
    }

    /// The paths in `fields`; nil without it.
    public var fields: [String]? {
        self["fields"].map { $0.split(separator: ",").map(String.init) }
    }
}
