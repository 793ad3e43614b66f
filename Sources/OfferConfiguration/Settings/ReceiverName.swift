import FoundationEssentials

/// The name of a receiver in logs, metrics and problems: its scheme, host and port. The rest of the URL can be a
/// secret.
package enum ReceiverName {
    package static func of(_ url: String) -> String {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme, let host = parts.host else {
            return "(unreadable URL)"
        }
        return "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")"
    }
}
