import FoundationEssentials

/// Tells the URLs that keys may be fetched from: whoever answers there decides who is a user.
enum KeySetURL {
    /// `https`, or `http` on this machine, where nobody can change the answer on its way. No password, which would be in
    /// the log.
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
