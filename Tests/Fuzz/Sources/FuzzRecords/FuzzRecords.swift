import FuzzDriver

@main
enum FuzzRecords {
  static func main() { FuzzDriver.run(.records) }
}
