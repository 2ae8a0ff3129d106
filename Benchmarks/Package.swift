// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "geobucket-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "geobucket", path: ".."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        .target(name: "CEpoll"),
        .target(name: "CMallocCounter"),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(
            name: "Workloads",
            dependencies: [.product(name: "GeoBucketEngine", package: "geobucket")]),
        .executableTarget(
            name: "benchmark",
            dependencies: [
                "CEpoll", "CSQLite", "Workloads",
                .product(name: "GeoBucketEngine", package: "geobucket"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .executableTarget(
            name: "micro",
            dependencies: [
                "CMallocCounter", "Workloads",
                .product(name: "GeoBucketEngine", package: "geobucket"),
                .product(name: "Logging", package: "swift-log"),
            ]),
    ]
)
