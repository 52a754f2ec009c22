import FuzzDriver

@main
enum FuzzGeneric {
  static func main() { FuzzDriver.run(.generic) }
}
