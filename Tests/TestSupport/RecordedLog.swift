package import Logging
import NIOConcurrencyHelpers

/// Records the log events at or above a level.
package final class RecordedLog: Sendable {
    private let lines = NIOLockedValueBox<[String]>([])

    private let level: Logger.Level

    package init(level: Logger.Level = .trace) {
        self.level = level
    }

    package var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(log: self) }
        logger.logLevel = level
        return logger
    }

    package var text: String { lines.withLockedValue { $0.joined(separator: "\n") } }

    package func lines(with part: String) -> [Substring] { text.split(separator: "\n").filter { $0.contains(part) } }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.lines.withLockedValue { $0.append("\(event.level) \(event.message) \(event.metadata ?? [:])") }
        }
    }
}
