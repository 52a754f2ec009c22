import Stow

/// Where bytes break the format, and how.
struct Broken: Error {
  let offset: Int
  let reason: String

  init(_ reason: String, at offset: Int) {
    self.offset = offset
    self.reason = reason
  }

  init(_ error: FormatError) {
    offset = error.offset
    reason =
      switch error.kind {
      case .truncated: "the bytes end before this does"
      case .reserved: "a tag that is reserved for later versions of the format"
      case .invalidText: "not UTF-8"
      case .tooLarge: "a number that is larger than this machine can count"
      default: "this breaks the format"
      }
  }
}
