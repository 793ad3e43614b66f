/// A socket that is listened on, and what is answered there.
package struct ListeningPlace: Sendable {
    let address: ListeningAddress
    let sharesPort: Bool
    let maximumConnections: Int
    let isPlain: Bool
    let routes: Routes

    /// - Parameters:
    ///   - sharesPort: whether another process may listen at the same port.
    ///   - maximumConnections: how many there may be at a time.
    ///   - isPlain: whether plain HTTP is spoken although there may be a certificate.
    package init(
        _ address: ListeningAddress, sharesPort: Bool, maximumConnections: Int, isPlain: Bool = false, routes: Routes
    ) {
        self.address = address
        self.sharesPort = sharesPort
        self.maximumConnections = maximumConnections
        self.isPlain = isPlain
        self.routes = routes
    }
}
