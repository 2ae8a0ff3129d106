import CMallocCounter
import Geodesy
import Glibc
import JSONText
import Objects
import QueryLanguage
import SpatialIndex
import SyntheticData
import Workloads

// Micro-benchmarks: nanoseconds and allocations of single operations, as a Markdown table.
// One part a module; what is measured of a part stands in one function below.
//
//     micro [part of an operation's name, to measure no other | corridors]

let dataset = Dataset.clustered(objects: 1_000_000, seed: 1)
let index = dataset.index()

if CommandLine.arguments.dropFirst() == ["corridors"] {
    measureCorridors()
    exit(0)
}

print("# Micro-benchmarks\n")
print("In process, one thread; \(dataset.count) objects where there are objects. Nanoseconds are")
print("medians of 7 rounds, *spread* the largest less the smallest by the median; allocations are")
print("exact counts of calls of malloc and its kin, over all rounds.\n")
print("| operation | ns | spread | allocations |")
print("| --- | ---: | ---: | ---: |")

measureIndex()
try measureEngine()
measureParser()
measureWriter()
if CommandLine.arguments.count == 1 { measureCorridors() }

/// Prints the row of an operation, which is told its number.
func measure(_ name: String, count: Int = 2_000, _ operation: (Int) throws -> Void) rethrows {
    guard CommandLine.arguments.dropFirst().allSatisfy({ name.contains($0) }) else { return }
    for number in 0..<count { try operation(number) }
    var times: [Double] = []
    times.reserveCapacity(7)
    let allocations = gb_allocations()
    for _ in 0..<7 {
        var start = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
        for number in 0..<count { try operation(number) }
        var end = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
        let nanoseconds = (end.tv_sec - start.tv_sec) * 1_000_000_000 + end.tv_nsec - start.tv_nsec
        times.append(Double(nanoseconds) / Double(count))
    }
    let allocated = Double(gb_allocations() - allocations) / Double(7 * count)
    times.sort()
    let spread = Int(((times[6] - times[0]) / times[3] * 100).rounded())
    print(
        "| \(name) | \(Int(times[3].rounded())) | \(spread) % | \((allocated * 100).rounded() / 100) |"
    )
}
