import FuzzDriver

@main
enum FuzzUnrelated {
  static func main() { FuzzDriver.run(.unrelated) }
}
