import FuzzDriver

@main
enum FuzzRoundTrip {
  static func main() { FuzzDriver.run(.roundTrip) }
}
