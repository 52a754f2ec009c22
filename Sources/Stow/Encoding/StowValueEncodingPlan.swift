/// Records values of any kind, without a call of `Codable` for any of them.
final class StowValueEncodingPlan: EncodingPlan<StowValue> {
  override func append(
    _ value: borrowing StowValue, to builder: TapeBuilder, key: TokenKey, parent: Int, level: Int
  ) throws {
    try builder.append(value, key: key, parent: parent, level: level)
  }
}

// Methods of the builder, so that loops need not retain it. Values are lent in place.

extension TapeBuilder {
  @inline(__always)
  fileprivate func append(_ value: borrowing StowValue, key: TokenKey, parent: Int, level: Int = 0) throws {
    switch value {
    case .string(let value): value.record(in: &recorded, key: key)
    case .integer(let value): value.record(in: &recorded, key: key)
    case .double(let value): value.record(in: &recorded, key: key)
    case .bool(let value): value.record(in: &recorded, key: key)
    case .null: recorded.recordNil(level: level, key: key)
    default: try appendOther(value, key: key, parent: parent, level: level)
    }
  }

  @inline(never)
  private func appendOther(_ value: borrowing StowValue, key: TokenKey, parent: Int, level: Int) throws {
    switch value {
    case .array(let elements):
      try recordNest(of: value, isMap: false, key: key, parent: parent) { array in
        try elements.withUnsafeBufferPointer { try encode($0, in: array) }
      }
    case .object(let object):
      try recordNest(of: value, isMap: true, key: key, parent: parent) { map in
        try object.keys.withUnsafeBufferPointer { keys in
          try object.values.withUnsafeBufferPointer { try encode(keys, $0, in: map) }
        }
      }
    case .nestedNull(let inner): recorded.recordNil(level: level + min(max(inner, 0), 255), key: key)
    case .unsignedInteger(let value): value.record(in: &recorded, key: key)
    case .float(let value): value.record(in: &recorded, key: key)
    case .data(let value): value.record(in: &recorded, key: key)
    case .date(let value): value.record(in: &recorded, key: key)
    case .uuid(let value): value.record(in: &recorded, key: key)
    case .url(let value): recorded.tape.append(recorded.token(of: value, as: .url), key: key)
    case .decimal(let value): value.record(in: &recorded, key: key)
    case .largeDecimal(let magnitude, let exponent, let isNegative):
      let parts = DecimalParts(isNegative: isNegative, magnitude: magnitude, exponent: exponent)
      let form = Decimals.form(parts.decimal.map { DecimalParts($0) } ?? parts)
      recorded.tape.append(recorded.token(of: form), key: key)
    default: preconditionFailure("recorded by the caller")
    }
  }

  @inline(never)
  private func encode(_ elements: UnsafeBufferPointer<StowValue>, in array: Int) throws {
    try borrowingEach(of: elements) {
      let index = recorded.tape.count
      try append($0, key: recorded.tape.key($1), parent: array)
      recorded.tape.link(index, in: array)
    }
  }

  @inline(never)
  private func encode(
    _ names: UnsafeBufferPointer<String>, _ values: UnsafeBufferPointer<StowValue>, in map: Int
  ) throws {
    try borrowingEach(of: values) { value, number in
      let index = recorded.tape.count
      try append(value, key: recorded.key(names[number]), parent: map)
      recorded.tape.link(index, in: map)
    }
  }
}
