package import FoundationEssentials
import NIOConcurrencyHelpers
import NIOSSL
package import OfferCore

/// The TLS certificate in force, or none if the service speaks plain HTTP. A connection keeps the certificate that it
/// started with.
package final class CurrentCertificate: Sendable {
    private let certificate: NIOLockedValueBox<ServerCertificate?>

    package init(_ certificate: ServerCertificate?) {
        self.certificate = NIOLockedValueBox(certificate)
    }

    var context: NIOSSLContext? { certificate.withLockedValue { $0?.context } }

    package var expiry: Date? { certificate.withLockedValue { $0?.expiry } }

    package func problem(at now: Date) -> Diagnostic? { certificate.withLockedValue { $0?.problem(at: now) } }

    package func replace(with next: ServerCertificate?) { certificate.withLockedValue { $0 = next } }
}
