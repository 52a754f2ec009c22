/// What a run consists of, as the options choose it.
struct Selection {
  let payloads: [Payload]
  let documents: [String]
  let cold: Bool
  let growth: Bool
  let memory: Bool
  let threads: Bool
  let log: Bool
  let parts: Bool

  /// Chooses from the catalogue, and reads the documents.
  init(_ options: Options) throws {
    documents = options.documents
    growth = options.growth || options.all
    memory = options.memory || options.all
    threads = options.threads || options.all
    log = options.log || options.all
    parts = options.parts || options.all
    let hasOwnSubject =
      !options.documents.isEmpty || options.growth || options.memory || options.threads || options.log
      || options.parts
    let chosen: Set<String>
    if options.filters.isEmpty {
      let names = Catalogue.payloads.filter { !$0.isOnDemand }.map(\.name) + [ColdStart.name]
      chosen = hasOwnSubject && !options.all ? [] : Set(names)
    } else {
      chosen = try Self.matches(options.filters, among: Catalogue.payloads.map(\.name) + [ColdStart.name])
    }
    cold = chosen.contains(ColdStart.name)
    payloads =
      try Catalogue.payloads.filter { chosen.contains($0.name) }
      + options.documents.map(Payload.init(documentAt:))
  }

  /// The names the filters mean: those that are equal to one, or else those that contain it.
  private static func matches(_ filters: [String], among names: [String]) throws -> Set<String> {
    var matches: Set<String> = []
    for filter in filters {
      let found = names.contains(filter) ? [filter] : names.filter { $0.contains(filter) }
      guard !found.isEmpty else { throw UsageError("no payload has '\(filter)' in its name (see --list)") }
      matches.formUnion(found)
    }
    return matches
  }
}
