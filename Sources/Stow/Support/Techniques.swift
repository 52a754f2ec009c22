/// What relies on how the standard library lays its types out. Each such technique checks that once and has a
/// plain path beside it.
enum Techniques {
  /// Whether the environment asks for the plain paths, with `STOW_PLAIN`.
  static let arePlain = CLibrary.hasEnvironmentVariable("STOW_PLAIN")
  /// Whether the environment asks for the boxes of the standard library, with `STOW_BOXES`; plain paths have them.
  static let useLibraryBoxes = CLibrary.hasEnvironmentVariable("STOW_BOXES")
}
