package import Logging

/// A log handler that writes one line per event to a ``LogWriter``.
package struct LineLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    private let writer: LogWriter
    private let sharedLevel: LogLevel
    private var ownLevel: Logger.Level?

    /// - Parameter level: the level of loggers that do not set their own.
    package init(writer: LogWriter, level: LogLevel) {
        self.writer = writer
        sharedLevel = level
    }

    package var logLevel: Logger.Level {
        get { ownLevel ?? sharedLevel.current }
        set { ownLevel = newValue }
    }

    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var all = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues { "\($0)" }
        if let error = event.error { all["error"] = "\(error)" }
        let line = writer.format.line(event.level, "\(event.message)", all)
        writer.add(line, event.level)
    }
}
