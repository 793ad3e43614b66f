import CProcess
import Foundation
import Glibc

/// The person who runs a command.
enum CommandUser {
    /// The name of the user who logged in to the machine, even after switching to the service's account. Where the
    /// kernel knows no login, as in a container, this is the user of the process.
    ///
    /// Anybody can set `SUDO_USER` to any name, so it counts only for a process of root.
    static var name: String {
        if let login, let name = name(of: login) { return name }
        let user = getuid()
        if user == 0, let name = ProcessInfo.processInfo.environment["SUDO_USER"], !name.isEmpty { return name }
        return name(of: user) ?? "user \(user)"
    }

    /// The ID of the user who logged in, which the kernel passes on to all child processes; nil if there was no login.
    private static var login: UInt32? {
        let text = try? String(contentsOfFile: "/proc/self/loginuid", encoding: .utf8)
        return text.flatMap { UInt32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }.flatMap {
            $0 == UInt32.max ? nil : $0
        }
    }

    private static func name(of id: UInt32) -> String? { unsafe offer_user_name(id).map { unsafe String(cString: $0) } }
}
