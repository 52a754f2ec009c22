/// Where a walk is, as text: `people[3].name`.
struct Path: CustomStringConvertible {
  private var places: [Place]

  init(_ places: [Place] = []) { self.places = places }

  var count: Int { places.count }

  mutating func enter(_ place: Place) { places.append(place) }
  mutating func leave() { places.removeLast() }

  var description: String {
    var text = ""
    for place in places {
      switch place {
      case .part: break
      case .entry(let key), .field(let key), .cell(let key): append(key, to: &text)
      case .element(let index), .row(let index), .column(let index): text += "[\(index)]"
      case .record(let number): text = "record \(number)\(text.isEmpty ? "" : ", ")\(text)"
      }
    }
    return text.isEmpty ? "the top" : text
  }

  private func append(_ key: String, to text: inout String) {
    let step = PathText.step(key)
    text += (text.isEmpty || step.hasPrefix("[") ? "" : ".") + step
  }
}
