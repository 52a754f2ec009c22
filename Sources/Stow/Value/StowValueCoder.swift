/// A decoder or an encoder whose single-value container knows `StowValue` as it knows an `Int`.
protocol StowValueCoder {}
