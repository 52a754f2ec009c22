// swift-tools-version: 6.2

import PackageDescription

/// Stow in real servers, clients and databases. A package of its own, so that Stow itself depends on none of them.
let package = Package(
  name: "Integrations",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "Stow", path: "../.."),
    .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
    .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
    .package(url: "https://github.com/OpenCombine/OpenCombine.git", from: "0.14.0"),
    .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.4.3"),
  ],
  targets: [
    .target(name: "HummingbirdSnippet", dependencies: [.stow, .hummingbird]),
    .target(name: "ClientSnippet", dependencies: [.stow, .client, .nio("NIOCore"), .nio("NIOHTTP1")]),
    .testTarget(name: "ServerTests", dependencies: ["HummingbirdSnippet", "ClientSnippet", .stow, .client]),

    .target(name: "NIOSnippets", dependencies: [.stow, .records, .nio("NIOCore")]),
    .testTarget(
      name: "ChannelTests",
      dependencies: ["NIOSnippets", .stow, .records, .nio("NIOCore"), .nio("NIOPosix")]),

    .target(name: "RedisSnippet", dependencies: [.stow, .records, .nio("NIOCore"), .nio("NIOPosix")]),
    .executableTarget(name: "RedisConsumer", dependencies: ["RedisSnippet"]),
    .testTarget(
      name: "RedisTests", dependencies: ["RedisSnippet", "RedisConsumer", .stow, .records, .nio("NIOCore")]),

    .target(name: "GRPCSnippet", dependencies: [.stow, .grpc]),
    .testTarget(name: "GRPCTests", dependencies: ["GRPCSnippet", .stow, .grpc, .grpcInProcess]),

    .target(name: "ActorSystem", dependencies: [.stow, .records, .nio("NIOCore"), .nio("NIOPosix")]),
    .executableTarget(name: "ActorPeer", dependencies: ["ActorSystem"]),
    .testTarget(
      name: "ActorTests",
      dependencies: ["ActorSystem", "ActorPeer", .stow, .records, .nio("NIOCore"), .nio("NIOPosix")]),

    .target(name: "OpenCombineSnippet", dependencies: [.stow, .openCombine]),
    .testTarget(name: "PublisherTests", dependencies: ["OpenCombineSnippet", .stow, .openCombine]),

    .executableTarget(
      name: "LoadTest",
      dependencies: ["HummingbirdSnippet", .stow, .nio("NIOCore"), .nio("NIOPosix"), .nio("NIOHTTP1")]),
  ],
  swiftLanguageModes: [.v6]
)

/// Logs beside databases. Its folder `Shared` has links to files of the benchmarks.
let peers = Target.executableTarget(name: "LogPeers", dependencies: [.stow, .records], swiftSettings: [])
package.targets.append(peers)

// GRDB needs the headers of SQLite, which `.ci/integrations` looks for.
if Context.environment["STOW_WITHOUT_SQLITE"] == nil {
  package.dependencies.append(.package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"))
  package.targets += [
    .target(name: "GRDBSnippet", dependencies: [.stow, .grdb]),
    .testTarget(name: "DatabaseTests", dependencies: ["GRDBSnippet", .stow, .grdb]),
  ]
  peers.dependencies.append(.grdb)
  peers.swiftSettings?.append(.define("SQLITE"))
}

// The same for those of LevelDB.
if Context.environment["STOW_WITHOUT_LEVELDB"] == nil {
  package.targets.append(
    .systemLibrary(name: "CLevelDB", providers: [.apt(["libleveldb-dev"]), .brew(["leveldb"])]))
  peers.dependencies.append("CLevelDB")
  peers.swiftSettings?.append(.define("LEVELDB"))
}

// The same for those of libpq.
if Context.environment["STOW_WITHOUT_LIBPQ"] == nil {
  package.targets += [
    .systemLibrary(name: "CPostgreSQL", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(name: "PostgreSQLSnippet", dependencies: ["CPostgreSQL", .stow, .records]),
    .testTarget(
      name: "PostgreSQLTests", dependencies: ["PostgreSQLSnippet", "RedisSnippet", .stow, .records]),
  ]
}

// Only `.ci/integrations grpc` needs HTTP/2, with its cryptography in C, and Protocol Buffers. It compiles the files of
// the snippet with its own, because they declare nothing public.
if Context.environment["STOW_WITH_PROTOBUF"] != nil {
  package.targets.removeAll { ["GRPCSnippet", "GRPCTests"].contains($0.name) }
  package.dependencies += [
    .package(url: "https://github.com/grpc/grpc-swift-nio-transport.git", from: "2.9.2"),
    .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.39.0"),
  ]
  package.targets.append(
    .executableTarget(
      name: "GRPCLoad", dependencies: [.stow, .grpc, .grpcHTTP2, .nio("NIOCore"), .protobuf],
      path: "Sources", sources: ["GRPCLoad", "GRPCSnippet"]))
}

extension Target.Dependency {
  static let stow = product(name: "Stow", package: "Stow")
  static let records = product(name: "StowRecords", package: "Stow")
  static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
  static let client = product(name: "AsyncHTTPClient", package: "async-http-client")
  static let grpc = product(name: "GRPCCore", package: "grpc-swift-2")
  static let grpcInProcess = product(name: "GRPCInProcessTransport", package: "grpc-swift-2")
  static let grpcHTTP2 = product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport")
  static let protobuf = product(name: "SwiftProtobuf", package: "swift-protobuf")
  static let grdb = product(name: "GRDB", package: "GRDB.swift")
  static let openCombine = product(name: "OpenCombine", package: "OpenCombine")

  static func nio(_ name: String) -> Self { product(name: name, package: "swift-nio") }
}
