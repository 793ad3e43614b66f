import OfferCrypto

/// A query for the status of a certificate: the certificate and its issuer's certificate.
struct RevocationRequest: Sendable {
    let certificate: X509Certificate
    let issuer: X509Certificate

    /// The digests of both certificates. The same certificate with another issuer needs another query, because another
    /// key signs the answer.
    typealias ID = [UInt8]
    var id: ID { certificate.digest + issuer.digest }

    /// The responder's URL in the certificate; nil if there is no usable one.
    var responder: String? { certificate.ocspURLs.first(where: Self.isUsable) }

    /// The maximum length of a responder's URL in bytes. Apple's URLs have about 50 bytes.
    static let maximumURLLength = 512

    /// Returns true if a URL is plain HTTP with a host and without a user, in printable ASCII.
    ///
    /// HTTPS would add another certificate with a status to query. The answer is signed, so HTTP suffices.
    static func isUsable(_ url: String) -> Bool {
        let scheme = "http://"
        guard url.utf8.count <= maximumURLLength, url.prefix(scheme.count).lowercased() == scheme else { return false }
        let rest = url.utf8.dropFirst(scheme.utf8.count)
        let host = rest.prefix { !"/?#".utf8.contains($0) }
        return !host.isEmpty && !host.contains(UInt8(ascii: "@")) && rest.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension CertificatePath {
    /// The queries about the leaf and the intermediate; nil for Xcode's certificate. The root, like Xcode's
    /// certificate, is trusted directly, so it needs no query.
    var revocationRequests: (leaf: RevocationRequest, intermediate: RevocationRequest)? {
        guard let intermediate else { return nil }
        return (
            RevocationRequest(certificate: leaf, issuer: intermediate),
            RevocationRequest(certificate: intermediate, issuer: root)
        )
    }
}
