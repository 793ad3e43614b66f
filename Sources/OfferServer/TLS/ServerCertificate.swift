package import FoundationEssentials
import NIOCore
import NIOSSL
package import OfferCore

/// The certificate that the service shows in the handshake of TLS, with its private key.
package struct ServerCertificate: Sendable {
    /// What connections are made with: TLS 1.2 and up, HTTP/2 before HTTP/1.1.
    let context: NIOSSLContext
    /// Clients refuse it before and after.
    private let begin: Date
    let expiry: Date

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
        // For a client to agree to the end; everything has been sent by then.
        configuration.shutdownTimeout = .seconds(1)
        configuration.applicationProtocols = ["h2", "http/1.1"]
        do { context = try NIOSSLContext(configuration: configuration) } catch {
            throw SetupProblem(
                "the key \(paths.key) does not belong to the certificate \(paths.chain)",
                hint: "renew both together; the chain has to begin with your own certificate")
        }
        begin = Date(timeIntervalSince1970: TimeInterval(own.notValidBefore))
        expiry = Date(timeIntervalSince1970: TimeInterval(own.notValidAfter))
    }

    /// Whether clients take it.
    package func isGood(at now: Date) -> Bool { begin <= now && now < expiry }

    /// That it is not good yet, has expired, or soon will; nil if none of it.
    package func problem(at now: Date) -> SetupProblem? {
        if now < begin {
            return SetupProblem(
                "the certificate for TLS is good only from \(begin.formatted(.iso8601)) on",
                hint: "look at the clock, or wait")
        }
        guard now + Self.notice >= expiry else { return nil }
        return SetupProblem(
            "the certificate for TLS \(now >= expiry ? "has expired" : "expires") at \(expiry.formatted(.iso8601))",
            hint: "renew it, and send SIGHUP")
    }

    /// 14 days: what renews certificates does so earlier.
    private static let notice: TimeInterval = 14 * 86_400
}
