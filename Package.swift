// swift-tools-version: 6.2

import PackageDescription

/// Debug builds optimize the library, too: generic code is slow without optimization, and Foundation's coders, which
/// Stow replaces, are always optimized. STOW_UNOPTIMIZED in the environment leaves the flag out, so that a debugger can
/// step through the library.
var librarySettings: [SwiftSetting] =
  Context.environment["STOW_UNOPTIMIZED"] == nil ? [.unsafeFlags(["-O"], .when(configuration: .debug))] : []

// The first two flags let the linker leave out what a program does not use, as Apple's does by itself. The third has LLVM
// compile the module as a whole, in less memory. Later compilers may not know them, and do without.
#if compiler(<6.4)
  let frontendFlags = ["-function-sections", "-internalize-at-link", "-enable-single-module-llvm-emission"]
  librarySettings.append(
    .unsafeFlags(
      frontendFlags.flatMap { ["-Xfrontend", $0] }, .when(platforms: [.linux], configuration: .release)))
#endif

/// With STOW_SANITIZED in the environment, a release build does not optimize the tests, which takes longer than running
/// them as they are. Only `.ci/sanitize` sets it.
let isSanitized = Context.environment["STOW_SANITIZED"] != nil
let testSettings: [SwiftSetting] = isSanitized ? [.unsafeFlags(["-Onone"])] : []

let package = Package(
  name: "Stow",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Stow", targets: ["Stow"]),
    .library(name: "StowNotation", targets: ["StowNotation"]),
    .library(name: "StowRecords", targets: ["StowRecords"]),
    .library(name: "StowTesting", targets: ["StowTesting"]),
    .executable(name: "stowtool", targets: ["StowTool"]),
  ],
  targets: [
    .target(name: "CStow"),
    .target(
      name: "Stow", dependencies: [.target(name: "CStow", condition: .when(platforms: [.linux]))],
      swiftSettings: librarySettings),
    .target(name: "StowNotation", dependencies: ["Stow"]),
    .target(name: "StowRecords", dependencies: ["Stow"], exclude: ["ARCHITECTURE.md"]),
    .target(name: "StowTesting", dependencies: ["Stow", "StowRecords"]),
    .target(name: "CViewerPage"),
    .executableTarget(
      name: "StowTool", dependencies: ["CViewerPage", "Stow", "StowNotation", "StowRecords"],
      exclude: ["ARCHITECTURE.md"]),
    .executableTarget(
      name: "Benchmarks", dependencies: ["Stow", "StowRecords"], path: "Benchmarks",
      exclude: ["RESULTS.md", "Wrappers", "baseline.json", "chart.svg", "cost", "counts", "thresholds"]),
    .target(
      name: "FuzzTargets", dependencies: ["Stow", "StowNotation", "StowRecords"], path: "Tests/Fuzz/Targets"),
    .executableTarget(
      name: "MessageReader", dependencies: ["FuzzTargets", "Stow"], path: "Tests/CrossLanguage/MessageReader"),
    .testTarget(
      name: "StowTests", dependencies: ["Stow", "StowNotation", "FuzzTargets"],
      exclude: ["Format/Refusals.txt"],
      swiftSettings: testSettings),
    .executableTarget(
      name: "LogWorker", dependencies: ["FuzzTargets", "Stow", "StowRecords"], path: "Tests/LogWorker"),
    .testTarget(
      name: "StowRecordsTests", dependencies: ["StowRecords", "LogWorker", "FuzzTargets"],
      swiftSettings: testSettings),
    .testTarget(
      name: "StowTestingTests", dependencies: ["Stow", "StowRecords", "StowTesting"],
      swiftSettings: testSettings),
    .testTarget(
      name: "StowToolTests", dependencies: ["Stow", "StowNotation", "StowRecords", "StowTool"],
      swiftSettings: testSettings),
  ],
  swiftLanguageModes: [.v6]
)

// The command owns no buffers, so a sanitizer learns nothing from its tests.
if isSanitized { package.targets.removeAll { $0.name == "StowToolTests" } }
