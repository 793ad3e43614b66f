package import FoundationEssentials
import NIOSSL
package import OfferCore

/// The certificate that the service shows in the handshake of TLS, with its private key.
package struct ServerCertificate: Sendable {
    /// What connections are made with: TLS 1.2 and up, HTTP/2 before HTTP/1.1.
    let context: NIOSSLContext
    /// From when on clients refuse it.
    private let expiry: Date

    /// - Parameters:
    ///   - chain: PEM: the service's own certificate first, then those between it and the root.
    ///   - key: PEM, not encrypted.
    ///   - paths: how the files are called in a problem.
    package init(
        chain: [UInt8], key: [UInt8], paths: (chain: String, key: String)
    ) throws(SetupProblem) {
        let certificates: [NIOSSLCertificate]
        do { certificates = try NIOSSLCertificate.fromPEMBytes(chain) } catch {
            throw SetupProblem(
                "\(paths.chain) is not a certificate in PEM",
                hint: "it begins with -----BEGIN CERTIFICATE-----; put the whole chain there, your own first")
        }
        guard let own = certificates.first else {
            throw SetupProblem(
                "\(paths.chain) has no certificate in it", hint: "put the whole chain there, your own first")
        }
        let privateKey: NIOSSLPrivateKey
        do { privateKey = try NIOSSLPrivateKey(bytes: key, format: .pem) } catch {
            throw SetupProblem(
                "\(paths.key) is not a private key in PEM, or is encrypted",
                hint: "decrypt it with: openssl pkey -in encrypted.pem -out key.pem")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2", "http/1.1"]
        do { context = try NIOSSLContext(configuration: configuration) } catch {
            throw SetupProblem(
                "the key \(paths.key) does not belong to the certificate \(paths.chain)",
                hint: "renew both together; the chain has to begin with your own certificate")
        }
        expiry = Date(timeIntervalSince1970: TimeInterval(own.notValidAfter))
    }

    package func hasExpired(at now: Date) -> Bool { now >= expiry }

    /// That it has expired, or soon will; nil if neither.
    package func problem(at now: Date) -> SetupProblem? {
        guard hasExpired(at: now + Self.notice) else { return nil }
        return SetupProblem(
            "the certificate for TLS \(hasExpired(at: now) ? "has expired" : "expires") at \(expiry.formatted(.iso8601))",
            hint: "renew it, and send SIGHUP")
    }

    /// 14 days: what renews certificates does so earlier.
    private static let notice: TimeInterval = 14 * 86_400
}
