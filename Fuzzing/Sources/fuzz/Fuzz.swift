import FuzzTargets
import Glibc

/// The target that `GEOBUCKET_FUZZ` names.
private let target: FuzzTarget = {
    let name = getenv("GEOBUCKET_FUZZ").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let known = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        fatalError("GEOBUCKET_FUZZ has to be one of \(known)")
    }
    return target
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    target.run(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
