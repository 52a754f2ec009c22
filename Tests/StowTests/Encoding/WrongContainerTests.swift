import Stow
import Testing

#if os(macOS) || os(Linux) || os(Windows)
  @Suite("Containers of different kinds from one encoder")
  struct WrongContainerTests {
    @Test("a keyed and then an unkeyed container from one encoder are a programming error")
    func keyedThenUnkeyed() async {
      await #expect(processExitsWith: .failure) {
        _ = try StowEncoder().encode(
          Writes { encoder in
            _ = encoder.container(keyedBy: AnyKey.self)
            _ = encoder.unkeyedContainer()
          })
      }
    }

    @Test("an unkeyed and then a keyed container from one encoder are a programming error")
    func unkeyedThenKeyed() async {
      await #expect(processExitsWith: .failure) {
        _ = try StowEncoder().encode(
          Writes { encoder in
            _ = encoder.unkeyedContainer()
            _ = encoder.container(keyedBy: AnyKey.self)
          })
      }
    }

    @Test("an object and an array nested under one key are a programming error")
    func nested() async {
      await #expect(processExitsWith: .failure) {
        _ = try StowEncoder().encode(
          Writes { encoder in
            var container = encoder.container(keyedBy: AnyKey.self)
            _ = container.nestedContainer(keyedBy: AnyKey.self, forKey: "k")
            _ = container.nestedUnkeyedContainer(forKey: "k")
          })
      }
    }
  }
#endif
