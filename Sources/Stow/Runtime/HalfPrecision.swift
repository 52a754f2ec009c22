#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
  extension Float {
    /// The same number; a NaN keeps its bits, which conversion may change.
    init(preserving value: Float16) {
      guard value.isNaN else {
        self.init(value)
        return
      }
      let bits = UInt32(value.bitPattern)
      self.init(bitPattern: (bits & 0x8000) << 16 | 0x7F80_0000 | (bits & 0x3FF) << 13)
    }
  }

  extension Float16 {
    /// The nearest number; a NaN keeps the bits there is room for.
    init(preserving value: Float) {
      guard value.isNaN else {
        self.init(value)
        return
      }
      let payload = UInt16(truncatingIfNeeded: value.bitPattern >> 13 & 0x3FF)
      let sign = UInt16(truncatingIfNeeded: value.bitPattern >> 16 & 0x8000)
      self.init(bitPattern: sign | 0x7C00 | (payload == 0 ? 0x200 : payload))
    }
  }
#endif
