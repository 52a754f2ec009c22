/// The words the payloads are made of: few enough that names and cities repeat as they do in real data.
enum Vocabulary {
  static let hexDigits = Array("0123456789abcdef".utf8)

  static let firstNames = list(
    """
    Ada Adam Aisha Alan Alice Amir Ana Anders Anita Anton Aria Arthur Astrid Ben Bianca Boris Brigitte Bruno
    Carla Carlos Cecilia Chen Chloe Clara Conor Dagny Dana Daniel Daria David Deniz Diego Dmitri Elena Eli
    Elin Elsa Emil Emma Erik Esther Eva Farid Fatima Felix Fiona Frida Gabriel Grace Greta Hana Hannah Hassan
    Helena Henrik Hugo Ida Igor Ines Ingrid Isaac Ivan Ivy Jakob James Jana Jin Joan Jonas Jorge José Julia
    Kai Kamala Karin Kenji Khalid Lars Laura Lea Leo Lin Lucia Magnus Maria Marta Mei Mikael Nadia Nils Noor
    Olga Omar Oscar Priya Rosa Sami Sofia Tariq Vera Yuki Zoë
    """)

  static let lastNames = list(
    """
    Adams Ahmed Alvarez Andersen Andersson Bakker Banerjee Barbosa Bauer Becker Bell Bennett Berg Bergström
    Bianchi Blanc Bondarenko Bosch Brown Bruun Byrne Campbell Cano Carlsen Carter Castillo Chang Chen Cho
    Clark Cohen Colombo Cooper Costa Cruz Dahl Das Davies Delgado Demir Desai Diaz Doyle Dubois Duarte Edwards
    Eklund Eriksen Espinoza Evans Farah Fernandes Ferrari Fischer Flores Fontaine Foster Fraser Friedman
    Fuchs Fujita Gallo García Gauthier Gibson Gomez González Graham Greco Green Gruber Gupta Haas Hall Hansen
    Harris Hassan Hayashi Hernández Herrera Hoffmann Holm Horvat Huang Hughes Hussain Ibrahim Ito Ivanov
    Jackson Jansen Jensen Johansson Johnson Jones Joshi Jung Kaplan Karlsson Kato Kaya Keller Kelly Khan Kim
    King Klein Koch Kovács Kowalski Kozlov Kumar Larsen Laurent Lee Lehmann Leroy Lewis Li Lim Lindberg Lopes
    López Lund MacDonald Mäkinen Mancini Marino Martin Martínez Mehta Meyer Miller Mitchell Mohammed Molina
    Moore Morales Moreau Morris Müller Murphy Nakamura Navarro Nguyen Nielsen Novak Nowak Olsen Ortiz Owens
    Park Patel Pavlov Pereira Pérez Petersen Petrov Popescu Quinn Ramírez Rao Reyes Ricci Rivera Roberts
    Rojas Romano Rossi Roux Ruiz Russo Sánchez Santos Sato Schmidt Schneider Schulz Sharma Silva Singh Smith
    Sokolov Sørensen Suzuki Svensson Takahashi Tanaka Taylor Thomas Torres Tran Turner Vargas Virtanen Vogel
    Walker Wang Weber White Williams Wilson Wolf Wong Wright Yamamoto Yang Yilmaz Young Zhang Zimmermann
    """)

  static let cities = list(
    """
    Amsterdam Athens Auckland Bangalore Barcelona Basel Berlin Bogotá Boston Brisbane Brussels Bucharest
    Budapest Cairo Chicago Copenhagen Dakar Denver Dublin Edinburgh Geneva Hamburg Helsinki Istanbul Jakarta
    Kraków Kyoto Lagos Lima Lisbon London Lyon Madrid Melbourne Milan Montréal Mumbai Nairobi Osaka Oslo
    Paris Porto Prague Reykjavík Santiago Seattle Stockholm Toronto Vienna Zürich
    """)

  static let countries = list("AT AU BE CA CH CL CO CZ DE DK EG ES FI FR GB GR HU ID IE IN IS IT JP KE NL NO US")

  static let streets = list(
    """
    Acacia Bridge Castle Cedar Church Elm Garden Harbour Hill King Lake Linden Maple Market Meadow Mill
    North Oak Orchard Park Queen River Rose School South Station Sunset Victoria West Willow
    """)

  static let tags = list(
    """
    admin analyst author beta billing contractor customer designer developer editor external guest internal
    lead manager member newsletter partner premium press remote reviewer sales speaker staff student support
    tester trial vip
    """)

  static let words = list(
    """
    about account after again always answer april around autumn balance because before better between board
    book bright build carry change city clear cloud coffee cold come connect country current data day deliver
    different door early earth energy enough evening every example family field figure first follow found
    garden general good great green group hand happen hour house idea important interest island journey just
    keep kitchen language large learn left letter level light little long machine market matter measure
    message minute money month morning mountain music near network never night north number ocean office only
    open order other paper part people picture place plan play point power problem product public question
    quick rain read reason record remember report request response result return river road room round school
    science season second server service share short side simple small snow sound south space start state
    station still stone story street strong study summer sun system table take test thing time today together
    town travel tree under until update value version voice walk warm watch water week weather west white
    window winter without wonder word work world write year yellow
    """)

  /// The words of a text.
  private static func list(_ text: String) -> [String] { text.split(whereSeparator: \.isWhitespace).map(String.init) }
}

/// A seeded generator (SplitMix64) with the few draws the payloads need, the same on every machine and
/// for every version of the standard library.
struct RandomSource {
  private var state: UInt64

  /// Starts a sequence that depends on `seed` alone.
  init(seed: UInt64) { state = seed }

  /// 64 random bits.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// A number of `range`, each as likely.
  mutating func int(in range: ClosedRange<Int>) -> Int {
    let width = UInt64(range.upperBound - range.lowerBound) + 1
    return range.lowerBound + Int(next().multipliedFullWidth(by: width).high)
  }

  /// A fraction from 0 up to 1 with all 53 bits random.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// A number of `range` with random bits to the last.
  mutating func double(in range: ClosedRange<Double>) -> Double {
    range.lowerBound + unit() * (range.upperBound - range.lowerBound)
  }

  /// A number of `range` with random bits to the last.
  mutating func float(in range: ClosedRange<Float>) -> Float {
    range.lowerBound + Float(next() >> 40) * 0x1p-24 * (range.upperBound - range.lowerBound)
  }

  /// True with the given probability.
  mutating func chance(_ probability: Double) -> Bool { unit() < probability }

  /// One element, each as likely.
  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[int(in: 0...elements.count - 1)] }

  /// What `make` returns, or nil when the die says so: an optional field.
  mutating func maybe<Value>(_ probability: Double, _ make: (inout RandomSource) -> Value) -> Value? {
    chance(probability) ? make(&self) : nil
  }

  /// As many made values as a number of `range` says.
  mutating func array<Element>(_ range: ClosedRange<Int>, _ make: (inout RandomSource) -> Element) -> [Element] {
    let count = int(in: range)
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for _ in 0..<count { elements.append(make(&self)) }
    return elements
  }

  /// `count` made values.
  mutating func array<Element>(count: Int, _ make: (inout RandomSource) -> Element) -> [Element] {
    array(count...count, make)
  }

  /// Words of the vocabulary with a space between, as many as a number of `range` says.
  mutating func sentence(_ range: ClosedRange<Int>) -> String {
    array(range) { $0.pick(Vocabulary.words) }.joined(separator: " ")
  }

  /// `count` hexadecimal digits.
  mutating func hex(_ count: Int) -> String {
    String(decoding: (0..<count).map { _ in Vocabulary.hexDigits[int(in: 0...15)] }, as: UTF8.self)
  }
}
