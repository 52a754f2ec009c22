import FuzzDriver

@main
enum FuzzLogs {
  static func main() { FuzzDriver.run(.logs) }
}
