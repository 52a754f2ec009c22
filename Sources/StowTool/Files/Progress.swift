/// How far the command is in a large file, on standard error if that is a terminal.
final class Progress {
  private let size: Int
  private let isShown: Bool
  private var shown = -1

  /// The size from which on progress is shown: smaller files take no time.
  private static let least = 100_000_000

  init(of input: Input) {
    size = input.data.count
    isShown = size >= Self.least && System.isTerminal(.error)
  }

  /// Shows how much of the file has been read.
  func reach(_ offset: Int) {
    guard isShown else { return }
    let percent = offset / (size / 100)
    if percent == shown { return }
    shown = percent
    _ = System.write(Array("\r\(percent) %".utf8), to: .error)
  }

  /// Removes the line.
  func end() {
    if shown >= 0 { _ = System.write(Array("\r      \r".utf8), to: .error) }
  }
}
