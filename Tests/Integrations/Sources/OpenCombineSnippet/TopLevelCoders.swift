// swift-format-ignore-file: AvoidRetroactiveConformances
// The protocols are those of OpenCombine, which Stow does not know.

import Foundation
import OpenCombine
import Stow

// Where Combine exists, Stow conforms to Combine's protocols of the same names, and has these names of types already.
#if !canImport(Combine)
  // snippet: opencombine
  extension StowEncoder: @retroactive TopLevelEncoder {
    public typealias Output = Data
  }

  extension StowDecoder: @retroactive TopLevelDecoder {
    public typealias Input = Data
  }
// end
#else
  extension StowEncoder: @retroactive OpenCombine.TopLevelEncoder {}
  extension StowDecoder: @retroactive OpenCombine.TopLevelDecoder {}
#endif
