@main
struct LogWorker {
  static func main() {}
}
