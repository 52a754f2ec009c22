import FuzzDriver

@main
enum FuzzContexts {
  static func main() { FuzzDriver.run(.contexts) }
}
