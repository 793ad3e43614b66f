import FoundationEssentials
import OfferCore

/// The rules for key-set URLs. They are strict, because the server at the URL decides which users are accepted.
enum KeySetURL {
    /// Whether keys may be fetched from a URL. It must use `https`, or `http` on this machine, where no one can change
    /// the response in transit. It must not contain a password, which would appear in the log.
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
