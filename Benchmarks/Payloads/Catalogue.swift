/// All payloads, in the order they are measured and shown.
enum Catalogue {
  static let payloads: [Payload] = own + SerializerBenchmark.payloads

  private static let own: [Payload] = [
    Payload(
      "people", "1,000 records of about 17 values: nested address, tags, optionals", .core,
      tabled: [TabledPerson].self
    ) {
      Person.make(count: 1000)
    },
    Payload("points", "10,000 points of 3 Double", .core, tabled: [TabledPoint].self) {
      Point.make(count: 10_000)
    },
    Payload(
      each: "small", "a struct of 5 fields, 10,000 separate calls (bytes and times are the sum)", .core,
      tabled: TabledSmall.self
    ) {
      Small.make(count: 10_000)
    },
    Payload("tree", "a recursive class, 4,000 nodes", .core, tabled: TabledNode.self) {
      Node.make(count: 4000)
    },
    Payload("events", "5,000 log events: Date, enum, UUID, attributes, URL", .core, tabled: [TabledEvent].self) {
      Event.make(count: 5000)
    },
    Payload(
      "log", "10,000 lines of a web server's log (Rust serialization benchmark)", .core,
      tabled: [TabledLogEntry].self
    ) {
      AccessLogEntry.make(count: 10_000)
    },
    Payload("mesh", "125,000 triangles of 12 Float (Rust serialization benchmark)", .core, tabled: TabledMesh.self) {
      Mesh.make(triangles: 125_000)
    },
    Payload(
      "minecraft_savedata", "500 players of a game (Rust serialization benchmark)", .core,
      tabled: [TabledPlayer].self
    ) {
      Player.make(count: 500)
    },
    Payload(
      "mk48", "1,000 updates of a game server (Rust serialization benchmark)", .core,
      tabled: [TabledGameUpdate].self
    ) {
      GameUpdate.make(count: 1000)
    },
    Payload(
      "points_computed", "10,000 points of 3 Double: a product, a quotient, an integer", .other,
      tabled: [TabledPoint].self
    ) {
      Point.makeComputed(count: 10_000)
    },
    Payload("sparse", "people, half of the optionals nil", .other, tabled: [TabledSparsePerson].self) {
      SparsePerson.make(count: 1000)
    },
    Payload("cells", "100,000 structs of small integers and enumerations", .other, tabled: [TabledCell].self) {
      Cell.make(count: 100_000)
    },
    Payload("tree_structs", "tree, of structs", .other, tabled: TabledBranch.self) {
      Branch(Node.make(count: 4000))
    },
    Payload(
      each: "small_in_context", "small, in a context learnt from the first hundred and not named", .other,
      tabled: TabledSmall.self, learning: 100
    ) {
      Small.make(count: 10_000)
    },
    Payload("tweets", "300 tweets, typed, shaped like twitter.json", .other, tabled: TabledSearchResult.self) {
      SearchResult.make(count: 300)
    },
    Payload("geometry", "50,000 coordinate pairs, typed, shaped like canada.json", .other) {
      FeatureCollection.make(rings: 480, pairs: 50_000)
    },
    Payload(lending: "small_lent", "small, and Stow lends the bytes by withEncoded", tabled: TabledSmall.self) {
      Small.make(count: 10_000)
    },
    Payload("ints", "100,000 Int of 1 to 62 bits", .other) { Numbers.ints(count: 100_000) },
    Payload("ids", "100,000 Int of one width", .other) { Numbers.ids(count: 100_000) },
    Payload("timestamps", "100,000 ascending Int", .other) { Numbers.timestamps(count: 100_000) },
    Payload("doubles", "100,000 Double with random bits", .other) { Numbers.doubles(count: 100_000) },
    Payload("strings", "20,000 distinct String", .other) { Texts.strings(count: 20_000) },
    Payload("blob", "1 MiB of Data", .other) { Numbers.blob(count: 1 << 20) },
    Payload("dictionary", "[String: Int] with 10,000 entries", .other) { Texts.dictionary(count: 10_000) },
    Payload("hierarchy", "1,000 objects of a class of three levels, by superEncoder()", .other) {
      Truck.make(count: 1000)
    },
    Payload("fallbacks", "1,000 records, of which every tenth has a part that throws, by try?", .other) {
      Fallback.make(count: 1000)
    },
    Payload(each: "hierarchy_each", "hierarchy, in 1,000 separate calls", .other) { Truck.make(count: 1000) },
    Payload(each: "fallbacks_each", "1,000 records with a part that throws, in separate calls", .other) {
      Fallback.make(count: 1000, refused: 1)
    },
    Payload("reversed", "100 records of 100 fields, read last to first", .other) {
      ReversedRecord.make(count: 100)
    },
    Payload(reading: "partial", "3 of 1,000 keys read, in 100 separate calls") {
      PartialRecord.make(count: 100)
    },
    Payload(reading: "lookup", "50 of 50,000 keys read by name") { LookupRecord.make() },
  ]
}
