import Stow
import Testing

#if os(macOS) || os(Linux) || os(Windows)
  @Suite("Asking one encoder for containers of different kinds is a programming error")
  struct WrongContainerTests {
    @Test("keyed and then unkeyed")
    func keyedThenUnkeyed() async {
      await #expect(processExitsWith: .failure) {
        _ = try StowEncoder().encode(
          Writes { encoder in
            _ = encoder.container(keyedBy: AnyKey.self)
            _ = encoder.unkeyedContainer()
          })
      }
    }

    @Test("unkeyed and then keyed")
    func unkeyedThenKeyed() async {
      await #expect(processExitsWith: .failure) {
        _ = try StowEncoder().encode(
          Writes { encoder in
            _ = encoder.unkeyedContainer()
            _ = encoder.container(keyedBy: AnyKey.self)
          })
      }
    }

    @Test("an object and an array nested under one key")
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
