import FuzzDriver

@main
enum FuzzContainers {
  static func main() { FuzzDriver.run(.containers) }
}
