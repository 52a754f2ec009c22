import Foundation
import Stow
import Testing

@Suite("Types of Foundation")
struct FoundationTypeTests {
  @Test("Date keeps every bit")
  func date() throws {
    let seconds = [
      0, 1, -1, 0.1, -0.0, 1e-9, 700_000_000.123456789, .greatestFiniteMagnitude, 63_113_904_000,
    ]
    for value in seconds {
      let date = Date(timeIntervalSinceReferenceDate: value)
      expectRoundTrip(date) {
        $0.timeIntervalSinceReferenceDate.bitPattern == $1.timeIntervalSinceReferenceDate.bitPattern
      }
    }
    expectRoundTrip(Date.distantPast)
    expectRoundTrip(Date.distantFuture)
    expectRoundTrip(Date())
    expectRoundTrip((0..<50).map { Date(timeIntervalSince1970: 1_700_000_000 + Double($0) * 0.123) })
  }

  @Test("UUID is decoded unchanged")
  func uuid() {
    expectRoundTrip(UUID())
    expectRoundTrip(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    expectRoundTrip((0..<20).map { _ in UUID() })
    expectRoundTrip([UUID(): UUID()])
  }

  @Test("URL is decoded unchanged")
  func url() throws {
    let texts = [
      "https://example.org", "https://user:pw@example.org:8080/a%20b/?q=1&r=%C3%A9#f", "file:///var/x", "a/b",
      "mailto:a@example.org", "data:,x", "#fragment", "?query", "http://[::1]/",
    ]
    for text in texts { expectRoundTrip(try #require(URL(string: text))) }
    expectRoundTrip(URL(fileURLWithPath: "/var/some file"))
    let base = try #require(URL(string: "https://example.org/a/b"))
    let relative = try #require(URL(string: "../c?d", relativeTo: base))
    #expect(try roundTrip(relative).absoluteString == relative.absoluteString)
    let urls = try (0..<20).map { try #require(URL(string: "https://example.org/\($0 % 4)")) }
    expectRoundTrip(urls)
  }

  @Test("Decimal is decoded unchanged")
  func decimal() {
    let texts = [
      "0", "1", "-1", "0.1", "-0.1", "12345678901234567890.123456789", "0.00000000000000000001", "1e20",
      "9999999999999999999999999999999999999", "3.14159265358979323846264338327950288", "1e-37", "100", "255",
    ]
    for text in texts { expectRoundTrip(Decimal(string: text)!) }
    expectRoundTrip(texts.map { Decimal(string: $0)! })
  }

  @Test("date components, intervals, ranges of dates and calendars are decoded unchanged")
  func calendars() throws {
    expectRoundTrip(DateComponents(year: 2024, month: 2, day: 29, hour: 23, nanosecond: 5))
    expectRoundTrip(DateComponents())
    let start = Date(timeIntervalSinceReferenceDate: 0.1)
    expectRoundTrip(DateInterval(start: start, duration: 12.75))
    expectRoundTrip(start..<Date(timeIntervalSinceReferenceDate: 5))
    expectRoundTrip(start...Date(timeIntervalSinceReferenceDate: 5))
    var calendar = Calendar(identifier: .iso8601)
    calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
    expectRoundTrip(calendar)
    expectRoundTrip(Calendar(identifier: .gregorian)) { $0.identifier == $1.identifier }
    expectRoundTrip(try #require(TimeZone(secondsFromGMT: 3600)))
    expectRoundTrip(Locale(identifier: "de_CH"))
    expectRoundTrip([Locale(identifier: "en_US"), Locale(identifier: "")])
    expectRoundTrip(Calendar.RecurrenceRule(calendar: calendar, frequency: .daily)) {
      $0.frequency == $1.frequency && $0.interval == $1.interval
    }
    expectRoundTrip(Locale.Language(identifier: "zh-Hant"))
    expectRoundTrip(Locale.Currency("EUR"))
    expectRoundTrip(Locale.Region("CH"))
  }

  @Test("index sets, index paths, character sets and ranges are decoded unchanged")
  func indexes() {
    expectRoundTrip(IndexSet())
    expectRoundTrip(IndexSet([1, 2, 3, 10, 1000]))
    expectRoundTrip(IndexPath())
    expectRoundTrip(IndexPath(indexes: [0, 1, 100_000]))
    expectRoundTrip(CharacterSet(charactersIn: "abcé😀"))
    expectRoundTrip(NSRange(location: 3, length: 4))
  }

  @Test("names of persons, measurements and URL components are decoded unchanged")
  func others() throws {
    var name = PersonNameComponents()
    name.givenName = "Ada"
    name.familyName = "Lovelace"
    expectRoundTrip(name)
    expectRoundTrip(Measurement(value: 1.5, unit: UnitLength.kilometers))
    expectRoundTrip(Measurement(value: -40, unit: UnitTemperature.celsius))
    expectRoundTrip(try #require(URLComponents(string: "https://example.org/a?b=c#d")))
  }

  @Test("geometric types are decoded unchanged")
  func geometry() {
    expectRoundTrip(CGFloat(0.1))
    expectRoundTrip(CGPoint(x: 1, y: -2.5))
    expectRoundTrip(CGSize(width: 0.1, height: 1e10))
    expectRoundTrip(CGRect(x: 0, y: 0.5, width: 1, height: 1e-5))
    expectRoundTrip((0..<40).map { CGPoint(x: Double($0) / 8, y: -Double($0)) })
    expectRoundTrip((0..<40).map { CGRect(x: 0, y: Double($0), width: 0.1, height: 0.2) })
    expectRoundTrip(AffineTransform(rotationByDegrees: 30))
  }

  @Test("format styles are decoded unchanged")
  func formats() {
    expectRoundTrip(Date.ISO8601FormatStyle())
    expectRoundTrip(IntegerFormatStyle<Int>().grouping(.never))
    expectRoundTrip(ByteCountFormatStyle())
  }
}

@Suite("Decimals beyond JSON")
struct DecimalTests {
  @Test("the limits of Decimal are decoded unchanged")
  func limits() {
    expectRoundTrip(Decimal.greatestFiniteMagnitude)
    expectRoundTrip(-Decimal.greatestFiniteMagnitude)
    expectRoundTrip(Decimal.leastNonzeroMagnitude)
    expectRoundTrip(Decimal.leastFiniteMagnitude)
    expectRoundTrip([Decimal.leastNonzeroMagnitude, 1, .greatestFiniteMagnitude])
  }

  @Test("decimals keep every exponent")
  func exponents() {
    for exponent in -128...127 {
      let value = Decimal(sign: .minus, exponent: exponent, significand: 7)
      expectRoundTrip(value)
      expectRoundTrip(value) { $0.exponent == $1.exponent && $0.significand == $1.significand }
    }
  }

  @Test("zero keeps its exponent, which nothing else shows")
  func zeros() throws {
    for exponent in -128...127 {
      let value = try #require(Decimal(string: "0e\(exponent)"))
      #expect(value == 0 && value.description == "0")
      expectRoundTrip(value) { $0 == $1 && $0.exponent == $1.exponent }
    }
  }

  @Test("decimals with mantissas of every length are decoded unchanged")
  func mantissas() {
    for length in 1...8 {
      for negative in [false, true] {
        let mantissa = (0..<length).reduce(Decimal(0)) { value, _ in value * 65536 + 65535 }
        expectRoundTrip(Decimal(sign: negative ? .minus : .plus, exponent: -10, significand: mantissa))
      }
    }
  }

  @Test("the NaN of Decimal is decoded unchanged")
  func notANumber() throws {
    #expect(try roundTrip(Decimal.nan).isNaN)
    #expect(try roundTrip([Decimal(1), .nan]).map(\.isNaN) == [false, true])
  }
}
