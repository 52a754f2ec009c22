/// Strings, alone and as keys.
enum Texts {
  /// Strings of 5 to 60 characters of which no two are equal, a tenth of them not ASCII.
  static func strings(count: Int) -> [String] {
    var random = RandomSource(seed: 8)
    return (0..<count).map { number in
      let tail = String(number, radix: 36)
      let wanted = random.int(in: 5...60)
      var text = random.chance(0.1) ? random.pick(foreign) : ""
      while text.count + tail.count < wanted {
        text += text.isEmpty ? random.pick(Vocabulary.words) : " " + random.pick(Vocabulary.words)
      }
      return text.prefix(max(0, wanted - tail.count - 1)) + "/" + tail
    }
  }

  /// A dictionary with as many keys as asked, counting what they name.
  static func dictionary(count: Int) -> [String: Int] {
    var random = RandomSource(seed: 9)
    var dictionary: [String: Int] = [:]
    dictionary.reserveCapacity(count)
    for number in 0..<count {
      dictionary["\(random.pick(Vocabulary.words))-\(number)"] = random.int(in: 0...1_000_000)
    }
    return dictionary
  }

  private static let foreign = [
    "東京都の天気", "Привет, мир", "Ελληνικά", "smörgåsbord", "naïve café", "📦 parcel", "한국어 문장", "مرحبا",
  ]
}
