import FoundationEssentials
package import Logging

/// One line an event: `2026-01-01T00:00:00Z notice keys in force active="2X9R4HXF34"`.
///
/// Values stand in quotes, as in JSON, and whatever could end or forge a line is written as an escape.
package struct LineLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.info
    private let writer: LogWriter

    package init(writer: LogWriter) {
        self.writer = writer
    }

    package subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var line = "\(Self.clock.now) \(event.level) \(Self.escaped("\(event.message)"))"
        var all = metadata.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { all["error"] = "\(error)" }
        for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\"\(Self.escaped("\(value)"))\"" }
        writer.add(line, isImportant: event.level >= .warning)
    }

    /// Without line ends and other control characters, and with its quotes escaped.
    private static func escaped(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
        if isPlain { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                escaped += "\\u{\(String(scalar.value, radix: 16))}"
            default:
                if scalar == "\"" || scalar == "\\" { escaped += "\\" }
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static let clock = PerSecond { $0.formatted(.iso8601) }
}
