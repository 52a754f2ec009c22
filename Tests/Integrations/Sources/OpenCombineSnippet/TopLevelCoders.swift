// swift-format-ignore-file: AvoidRetroactiveConformances
// The protocols are those of OpenCombine, which Stow does not know.

// snippet: opencombine
import Foundation
import OpenCombine
import Stow

#if !canImport(Combine)
  extension StowEncoder: @retroactive TopLevelEncoder {
    public typealias Output = Data
  }

  extension StowDecoder: @retroactive TopLevelDecoder {
    public typealias Input = Data
  }
#endif
// end

// Where Combine exists, Stow conforms to its protocols of the same names, and has these names of types already.
#if canImport(Combine)
  extension StowEncoder: @retroactive OpenCombine.TopLevelEncoder {}
  extension StowDecoder: @retroactive OpenCombine.TopLevelDecoder {}
#endif
