package import FoundationEssentials
import NIOCore
import NIOSSL
package import OfferCore

/// The certificate chain that the service presents in the TLS handshake, and its private key.
package struct ServerCertificate: Sendable {
    /// A context for TLS 1.2 and later that prefers HTTP/2 to HTTP/1.1.
    let context: NIOSSLContext
    /// Clients refuse the certificate before `begin` and after `expiry`.
    private let begin: Date
    let expiry: Date

    /// - Parameters:
    ///   - chain: the chain in PEM, the service's own certificate first, then the intermediates.
    ///   - key: the private key in PEM, not encrypted.
    ///   - paths: the file names to use in error messages.
    package init(
        chain: [UInt8], key: [UInt8], paths: (chain: String, key: String)
    ) throws(Diagnostic) {
        let certificates: [NIOSSLCertificate]
        do { certificates = try NIOSSLCertificate.fromPEMBytes(chain) } catch {
            throw Diagnostic(
                "\(paths.chain) is not a PEM certificate",
                hint:
                    "a PEM certificate begins with -----BEGIN CERTIFICATE-----; put the whole chain in the file, "
                    + "your own certificate first")
        }
        guard let own = certificates.first else {
            throw Diagnostic(
                "\(paths.chain) contains no certificate", hint: "put the whole chain in it, your own certificate first")
        }
        let privateKey: NIOSSLPrivateKey
        do { privateKey = try NIOSSLPrivateKey(bytes: key, format: .pem) } catch {
            throw Diagnostic(
                "\(paths.key) is not a PEM private key, or is encrypted",
                hint: "decrypt it with: openssl pkey -in encrypted.pem -out key.pem")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.cipherSuiteValues = Self.cipherSuites
        // The maximum wait for the client to acknowledge a TLS shutdown. By then, everything has been sent.
        configuration.shutdownTimeout = .seconds(1)
        configuration.applicationProtocols = ["h2", "http/1.1"]
        do { context = try NIOSSLContext(configuration: configuration) } catch {
            throw Diagnostic(
                "the key \(paths.key) does not belong to the certificate \(paths.chain)",
                hint: "renew both together; the chain has to begin with your own certificate")
        }
        begin = Date(timeIntervalSince1970: TimeInterval(own.notValidBefore))
        expiry = Date(timeIntervalSince1970: TimeInterval(own.notValidAfter))
    }

    /// Returns true if clients accept the certificate at `now`.
    package func isGood(at now: Date) -> Bool { begin <= now && now < expiry }

    /// Returns a problem if the certificate is not valid yet, has expired, or expires within 14 days.
    package func problem(at now: Date) -> Diagnostic? {
        if now < begin {
            return Diagnostic(
                "the TLS certificate is not valid before \(begin.formatted(.iso8601))",
                hint: "check the clock, or wait")
        }
        guard now + Self.notice >= expiry else { return nil }
        return Diagnostic(
            "the TLS certificate \(now >= expiry ? "expired" : "expires") at \(expiry.formatted(.iso8601))",
            hint: "renew it, and send SIGHUP")
    }

    /// The cipher suites for TLS 1.2: only AEAD suites with forward secrecy (RFC 9325 section 4.2). All suites of TLS
    /// 1.3 have these properties.
    private static let cipherSuites: [NIOTLSCipher] = [
        .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
        .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
        .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ]

    /// The time before expiry at which a problem is reported: 14 days. Automatic renewal should have happened before
    /// then.
    private static let notice: TimeInterval = 14 * 86_400
}
