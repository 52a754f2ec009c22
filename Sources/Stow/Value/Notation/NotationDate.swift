/// Dates as text: days and times of the Gregorian calendar in UTC, as ISO 8601 writes them.
///
/// The text says the exact decimal number of seconds that the shortest decimal of the `Double` is, so that reading it
/// rounds to the same bits.
enum NotationDate {
  private static let secondsPerDay: Int64 = 86_400
  /// 2001-01-01, in days from the first of year 0.
  private static let reference = days(year: 2001, month: 1, day: 1)
  /// The years of four digits, in seconds from 2001-01-01.
  private static let range =
    Double(
      -seconds(ofDays: reference))..<Double(
      seconds(ofDays: days(year: 10_000, month: 1, day: 1) - reference))

  // MARK: writing

  /// The text of a date so many seconds after 2001-01-01; nil for one that has none, or only one that would not give
  /// the same bits back.
  static func text(ofSeconds seconds: Double) -> String? {
    guard range.contains(seconds) else { return nil }
    let decimal = seconds.description.split(separator: ".", omittingEmptySubsequences: false)
    guard decimal.count == 2, var whole = Int64(decimal[0]),
      decimal[1].utf8.allSatisfy(NotationNumber.isDigit)
    else { return nil }
    var fraction = decimal[1] == "0" ? [] : Array(decimal[1].utf8)
    if seconds.sign == .minus {
      // No text says negative zero, nor a fraction that is to be taken off.
      if seconds == 0 { return nil }
      if !fraction.isEmpty {
        whole -= 1
        complement(&fraction)
      }
    }
    let (day, time) = floorDivide(whole, by: secondsPerDay)
    let date = civil(days: Int(day) + reference)
    let clock = [time / 3600, time / 60 % 60, time % 60].map { padded(Int($0), 2) }.joined(separator: ":")
    let point = fraction.isEmpty ? "" : "." + String(decoding: fraction, as: UTF8.self)
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(clock)\(point)Z"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  // MARK: reading

  /// The seconds from 2001-01-01 to the date that a text says; nil if it says none.
  static func seconds(of text: some Collection<UInt8>) -> Double? {
    let text = Array(text)
    let pattern = Array("0000-00-00T00:00:00".utf8)
    guard text.count > pattern.count, text.last == UInt8(ascii: "Z"),
      zip(text, pattern).allSatisfy({ $1 == UInt8(ascii: "0") ? NotationNumber.isDigit($0) : $0 == $1 })
    else { return nil }
    func number(_ start: Int, _ count: Int) -> Int {
      text[start..<(start + count)].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
    let (year, month, day) = (number(0, 4), number(5, 2), number(8, 2))
    let (hour, minute, second) = (number(11, 2), number(14, 2), number(17, 2))
    guard (1...12).contains(month), (1...daysOf(month, year)).contains(day), hour < 24, minute < 60,
      second < 60
    else { return nil }
    let whole =
      seconds(ofDays: days(year: year, month: month, day: day) - reference)
      + Int64(hour * 3600 + minute * 60 + second)
    let rest = text[pattern.count...].dropLast()
    if rest.isEmpty { return Double(whole) }
    guard rest.first == UInt8(ascii: "."), rest.count > 1, rest.dropFirst().allSatisfy(NotationNumber.isDigit)
    else { return nil }
    return seconds(whole, fraction: Array(rest.dropFirst()))
  }

  private static func seconds(_ whole: Int64, fraction: [UInt8]) -> Double? {
    if whole >= 0 || fraction.allSatisfy({ $0 == UInt8(ascii: "0") }) {
      return Double("\(whole).\(String(decoding: fraction, as: UTF8.self))")
    }
    var fraction = fraction
    complement(&fraction)
    // What is left of the whole may be zero, which has no sign of its own.
    return Double("-\(-whole - 1).\(String(decoding: fraction, as: UTF8.self))")
  }

  // MARK: digits

  /// Makes the digits of a fraction, which is not zero, those of one less it.
  private static func complement(_ fraction: inout [UInt8]) {
    let (zero, nine) = (UInt8(ascii: "0"), UInt8(ascii: "9"))
    let last = fraction.lastIndex { $0 != zero } ?? 0
    for index in 0..<last { fraction[index] = nine - (fraction[index] - zero) }
    fraction[last] = zero + (nine - fraction[last]) + 1
  }

  // MARK: the calendar

  private static func seconds(ofDays days: Int) -> Int64 { Int64(days) * secondsPerDay }

  private static func floorDivide(_ number: Int64, by divisor: Int64) -> (quotient: Int64, rest: Int64) {
    let rest = ((number % divisor) + divisor) % divisor
    return ((number - rest) / divisor, rest)
  }

  private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  private static func daysOf(_ month: Int, _ year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days from the first day of year 0 on. Years 0 to 9999.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    // Leap years before this one: year 0 is one.
    let leaps = year == 0 ? 0 : (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + 1
    return year * 365 + leaps + (1..<month).reduce(0) { $0 + daysOf($1, year) } + day - 1
  }

  /// The date of a day that is counted from the first day of year 0. Years 0 to 9999.
  private static func civil(days count: Int) -> (year: Int, month: Int, day: Int) {
    // Never too late, and at most a year too early.
    var year = max(0, min(9999, count * 400 / 146_097 - 1))
    while year < 9999, days(year: year + 1, month: 1, day: 1) <= count { year += 1 }
    var rest = count - days(year: year, month: 1, day: 1)
    var month = 1
    while month < 12, rest >= daysOf(month, year) {
      rest -= daysOf(month, year)
      month += 1
    }
    return (year, month, rest + 1)
  }
}
