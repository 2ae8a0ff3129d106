import ArgumentParser
import JSONText
import Objects

/// Runs `body`; its errors become usage errors of a flag.
func usage<Value>(_ flag: String, _ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let failure as ServiceFailure {
        let path = failure.path.map { "\($0): " } ?? ""
        throw ValidationError("\(flag): \(path)\(failure.message)")
    } catch let error as JSONSyntaxError {
        throw ValidationError("\(flag): \(error.message)")
    } catch {
        throw ValidationError("\(flag): \(error)")
    }
}
