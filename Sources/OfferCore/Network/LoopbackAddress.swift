/// A test for addresses that only this machine can reach.
package enum LoopbackAddress {
    /// Whether `host` is `localhost` or a loopback IP address. A host name that merely begins with `127.` is neither.
    package static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || IPAddress(host)?.isLoopback == true
    }
}
