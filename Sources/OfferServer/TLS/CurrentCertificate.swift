import FoundationEssentials
import NIOConcurrencyHelpers
import NIOSSL
import OfferCore

/// The certificate in force, if the service speaks TLS. A connection takes it when it begins and keeps it.
package final class CurrentCertificate: Sendable {
    private let certificate: NIOLockedValueBox<ServerCertificate?>

    package init(_ certificate: ServerCertificate?) {
        self.certificate = NIOLockedValueBox(certificate)
    }

    var context: NIOSSLContext? { certificate.withLockedValue { $0?.context } }

    var expiry: Date? { certificate.withLockedValue { $0?.expiry } }

    func problem(at now: Date) -> SetupProblem? { certificate.withLockedValue { $0?.problem(at: now) } }

    func replace(with next: ServerCertificate?) { certificate.withLockedValue { $0 = next } }
}
