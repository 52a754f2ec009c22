import Stow

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds out of which kind a value is, and reads it as that.
///
/// Trying types in turns does not tell kinds apart: a decimal number is read as an integer and an integer as a decimal
/// number, a URL as a string and a string as a URL. But nothing other than a Bool is read as one, and the error says
/// what was found in its place.
struct MeaningFinder {
  let decoder: any Decoder

  func meaning<Reader: MeaningReader>(as reader: Reader.Type) throws -> MessageMeaning {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() { return .null(level: try nilLevel(container)) }
    do {
      return .bool(try container.decode(Bool.self))
    } catch DecodingError.typeMismatch(let type, let context) {
      guard let kind = FoundKind(context.debugDescription) else { throw DecodingError.typeMismatch(type, context) }
      return try meaning(kind, container, as: reader)
    }
  }

  private func nilLevel(_ container: any SingleValueDecodingContainer) throws -> Int {
    switch try container.decode(Bool?????.self) {
    case .none: 0
    case .some(.none): 1
    case .some(.some(.none)): 2
    case .some(.some(.some(.none))): 3
    case .some(.some(.some(.some(.none)))): 4
    case .some(.some(.some(.some(.some)))): throw Finding("a nil is a Bool as well")
    }
  }

  private func meaning<Reader: MeaningReader>(
    _ kind: FoundKind, _ container: any SingleValueDecodingContainer, as reader: Reader.Type
  ) throws -> MessageMeaning {
    switch kind {
    case .integer: try integer(container)
    case .float: try float(container)
    case .string: .string(try container.decode(String.self))
    case .array: .array(try reader.elements(decoder))
    case .object: .object(try reader.entries(decoder))
    case .date: try date(container)
    case .uuid: .uuid(try container.decode(UUID.self))
    case .data: .data(try container.decode(Data.self))
    case .url: .url(try urlText(container))
    case .decimal: try decimal(container)
    case .element: try element(container, as: reader)
    }
  }

  private func integer(_ container: any SingleValueDecodingContainer) throws -> MessageMeaning {
    if let value = try? container.decode(Int128.self) { return .integer(value) }
    return .unsigned(try container.decode(UInt128.self))
  }

  private func float(_ container: any SingleValueDecodingContainer) throws -> MessageMeaning {
    let value = try container.decode(Double.self)
    guard value.isNaN, value.isWidened else { return .float(bits: value.bitPattern) }
    return .singleNaN(bits: try container.decode(Float.self).bitPattern | Float.nan.bitPattern)
  }

  private func date(_ container: any SingleValueDecodingContainer) throws -> MessageMeaning {
    .date(seconds: try container.decode(Date.self).timeIntervalSinceReferenceDate.bitPattern)
  }

  /// A decimal number, which `Decimal` need not hold.
  private func decimal(_ container: any SingleValueDecodingContainer) throws -> MessageMeaning {
    let value = try container.decode(StowValue.self)
    let decimal = try? container.decode(Decimal.self)
    guard decimal == value.decimal else {
      throw Finding("\(value) is read as the decimal number \(decimal?.description ?? "none")")
    }
    return MessageMeaning(value)
  }

  /// The text of a URL as the string that it can be read as: of some texts Foundation makes no URL, or another one.
  private func urlText(_ container: any SingleValueDecodingContainer) throws -> String {
    let text = try container.decode(String.self)
    let url = try? container.decode(URL.self)
    guard url?.absoluteString == URL(string: text)?.absoluteString else {
      throw Finding("the text \(text) is read as the URL \(url?.absoluteString ?? "none")")
    }
    return text
  }

  /// An element without a tag, of which the error does not say the kind: an integer, a float, a date, or a row. Here
  /// types do tell them apart, as it has to be of one of these.
  private func element<Reader: MeaningReader>(
    _ container: any SingleValueDecodingContainer, as reader: Reader.Type
  ) throws -> MessageMeaning {
    do {
      return .integer(Int128(try container.decode(Int64.self)))
    } catch DecodingError.dataCorrupted {
      // A number, but no integer.
      return try float(container)
    } catch DecodingError.typeMismatch {
      if (try? decoder.unkeyedContainer()) != nil { return .array(try reader.elements(decoder)) }
      if (try? decoder.container(keyedBy: NameKey.self)) != nil { return .object(try reader.entries(decoder)) }
      return try date(container)
    }
  }
}

/// What an error says was found in place of a Bool.
private enum FoundKind: String, CaseIterable {
  case integer = "an integer"
  case string = "a string"
  case array = "an array"
  case object = "an object"
  case float = "a floating-point number"
  case element = "an element of another kind"
  case data = "data"
  case date = "a date"
  case uuid = "a UUID"
  case url = "a URL"
  case decimal = "a decimal number"

  /// Nil for other errors, and for what is no kind, as a reserved tag.
  init?(_ description: String) {
    let beginning = "Expected a value of type Bool, but found "
    guard description.hasPrefix(beginning) else { return nil }
    let found = description.dropFirst(beginning.count)
    guard let kind = Self.allCases.first(where: { found.hasPrefix($0.rawValue + " at offset") }) else { return nil }
    self = kind
  }
}

extension Double {
  /// Whether this NaN may be one of a `Float`: quiet, and without bits for which that has no room.
  var isWidened: Bool { !isSignalingNaN && significandBitPattern & 0x1FFF_FFFF == 0 }
}
