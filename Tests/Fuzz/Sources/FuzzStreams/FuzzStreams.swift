import FuzzDriver

@main
enum FuzzStreams {
  static func main() { FuzzDriver.run(.streams) }
}
