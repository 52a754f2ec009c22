/// Stands for the functions of the C library, which the library takes from the system's.
enum CLibrary {
  static func areEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
    let right = UnsafeRawBufferPointer(start: right, count: count)
    return UnsafeRawBufferPointer(start: left, count: count).elementsEqual(right)
  }
}
