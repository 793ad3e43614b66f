import Foundation

/// The person who runs a command.
enum CommandUser {
    /// The name of the user, even after switching to the service's account; nil if it is unknown.
    static var name: String? {
        let name = ProcessInfo.processInfo.environment["SUDO_USER"] ?? ProcessInfo.processInfo.userName
        return name.isEmpty ? nil : name
    }
}
