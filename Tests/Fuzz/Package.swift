// swift-tools-version: 6.2

import PackageDescription

/// The fuzzers, apart from the package itself. `./fuzz` builds them with libFuzzer and runs them.
let fuzzers = [
  "FuzzGeneric", "FuzzRecords", "FuzzUnrelated", "FuzzRoundTrip", "FuzzContainers", "FuzzContexts",
  "FuzzLogs", "FuzzParts", "FuzzStreams", "FuzzNotation",
]

/// The default linker of Linux trips over the debug information of sanitized code.
let linkerSettings: [LinkerSetting] = [.unsafeFlags(["-use-ld=lld"], .when(platforms: [.linux]))]

let package = Package(
  name: "Fuzz",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Stow", path: "../..")],
  targets: [
    .systemLibrary(name: "CFuzzer"),
    .target(
      name: "FuzzTargets",
      dependencies: [
        .product(name: "Stow", package: "Stow"), .product(name: "StowNotation", package: "Stow"),
        .product(name: "StowRecords", package: "Stow"),
      ],
      path: "Targets"),
    .target(name: "FuzzDriver", dependencies: ["CFuzzer", "FuzzTargets"]),
  ]
    + fuzzers.map {
      .executableTarget(name: $0, dependencies: ["FuzzDriver"], linkerSettings: linkerSettings)
    },
  swiftLanguageModes: [.v6]
)
