import FoundationEssentials
import OfferCore

/// The rules for URLs of servers that the team runs. They are strict: a server with key sets decides which users are
/// accepted, and a receiver of notifications learns what customers buy.
enum ServerURL {
    /// Returns true if a URL may be used. It must use `https`, or `http` on this machine, where nobody can read or
    /// change data in transit. It must not contain a password, which would appear in the log.
    static func isGood(_ text: String) -> Bool {
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty, url.user == nil,
            url.password == nil, url.fragment == nil
        else { return false }
        switch url.scheme {
        case "https": return true
        case "http": return LoopbackAddress.isLoopback(host.replacing("[", with: "").replacing("]", with: ""))
        default: return false
        }
    }
}
