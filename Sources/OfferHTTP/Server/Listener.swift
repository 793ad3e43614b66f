/// A listening address, and the responder that serves it.
package struct Listener: Sendable {
    let address: ListeningAddress
    let sharesPort: Bool
    let maximumConnections: Int
    let isPlain: Bool
    let responder: any Responder

    /// - Parameters:
    ///   - sharesPort: whether another process may listen on the same port (`SO_REUSEPORT`).
    ///   - maximumConnections: the maximum number of open connections.
    ///   - isPlain: whether to speak plain HTTP even if there is a certificate.
    package init(
        _ address: ListeningAddress, sharesPort: Bool, maximumConnections: Int, isPlain: Bool = false,
        responder: any Responder
    ) {
        self.address = address
        self.sharesPort = sharesPort
        self.maximumConnections = maximumConnections
        self.isPlain = isPlain
        self.responder = responder
    }
}
