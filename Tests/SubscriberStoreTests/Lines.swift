import NIOConcurrencyHelpers

/// Lines collected from any thread.
final class Lines: Sendable {
    private let lines = NIOLockedValueBox([[UInt8]]())

    func add(_ line: [UInt8]) { lines.withLockedValue { $0.append(line) } }

    var all: [[UInt8]] { lines.withLockedValue { $0 } }

    var sorted: [String] { all.map { String(decoding: $0, as: UTF8.self) }.sorted() }
}
