import FuzzDriver

@main
enum FuzzNotation {
  static func main() { FuzzDriver.run(.notation) }
}
