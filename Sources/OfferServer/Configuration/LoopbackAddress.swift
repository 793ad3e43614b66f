import OfferCore

/// Tells the addresses that only this machine can reach.
enum LoopbackAddress {
    /// `localhost`, or an IP address of this machine's own. A name that merely begins with `127.` is none.
    static func isLoopback(_ host: String) -> Bool { host == "localhost" || IPAddress(host)?.isLoopback == true }
}
