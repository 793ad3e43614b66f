import FoundationEssentials
package import Logging
import OfferCore

/// The format of log lines. Characters that could end or forge a line are escaped.
package enum LogFormat: String, CaseIterable, Sendable {
    /// A line for people, such as `2026-01-01T00:00:00.000Z notice keys in force active="2X9R4HXF34"`.
    case text
    /// One JSON object (RFC 8259) with the members `time`, `level`, `message` and the metadata. Their values are all
    /// strings.
    case json

    /// Formats an event with the current time as one line, without a line feed.
    package func line(_ level: Logger.Level, _ message: String, _ metadata: [String: String]) -> String {
        let pairs = metadata.sorted { $0.key < $1.key }
        switch self {
        case .text:
            return pairs.reduce("\(Self.now) \(level) \(escaped(message))") { line, pair in
                line + " \(escaped(pair.key))=\"\(escaped(pair.value))\""
            }
        case .json:
            var line = #"{"time":"\#(Self.now)","level":"\#(level)","message":"\#(escaped(message))""#
            var names: Set = ["time", "level", "message"]
            for (key, value) in pairs {
                // A reader might use either of two members with the same name.
                var name = key
                while !names.insert(name).inserted { name += "_" }
                line += #","\#(escaped(name))":"\#(escaped(value))""#
            }
            return line + "}"
        }
    }

    /// Escapes line ends, terminal control characters, invisible characters, quotes and backslashes.
    private func escaped(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
        if isPlain { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                escaped += escape(scalar)
            default:
                if scalar == "\"" || scalar == "\\" { escaped += "\\" }
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private func escape(_ scalar: Unicode.Scalar) -> String {
        switch self {
        case .text: "\\u{\(String(scalar.value, radix: 16))}"
        case .json:
            String(scalar).utf16.map { "\\u" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined()
        }
    }

    /// The current time in UTC, to the millisecond.
    private static var now: String { String(decoding: Timestamp(Date()).iso8601, as: UTF8.self) }
}
