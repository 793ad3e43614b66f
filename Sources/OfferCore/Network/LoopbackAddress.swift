/// Recognises addresses that only this machine can reach.
package enum LoopbackAddress {
    /// True for `localhost` and for loopback IP addresses. A host name that merely begins with `127.` is not loopback.
    package static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || IPAddress(host)?.isLoopback == true
    }
}
