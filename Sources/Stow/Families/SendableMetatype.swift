#if compiler(<6.2)
  /// What later compilers ask of a type that several threads may name; earlier ones take that for granted.
  public typealias SendableMetatype = Any
#endif
