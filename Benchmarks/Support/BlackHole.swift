/// Swallows a value where the optimizer cannot see, so that the work which made it must be done.
@inline(never)
@_optimize(none)
func blackHole<Value>(_ value: borrowing Value) {}

/// Hands a value back as something the optimizer knows nothing about, so that no call on it is
/// specialised: a coder in another module would not be either.
@inline(never)
@_optimize(none)
func opaque<Value>(_ value: Value) -> Value { value }
