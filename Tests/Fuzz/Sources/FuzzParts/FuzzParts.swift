import FuzzDriver

@main
enum FuzzParts {
  static func main() { FuzzDriver.run(.parts) }
}
