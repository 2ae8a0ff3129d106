// swift-tools-version: 6.2
import PackageDescription

// libFuzzer's own main calls the one function of `fuzz`: `scripts/fuzz.sh` builds it so.
let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "geobucket", path: "..")],
    targets: [
        .executableTarget(
            name: "fuzz",
            dependencies: [.product(name: "GeoBucketFuzzTargets", package: "geobucket")],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])])
    ]
)
