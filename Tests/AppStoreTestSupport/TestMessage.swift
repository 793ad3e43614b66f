import TestSupport

/// A CMS SignedData message to make (RFC 5652 section 5). What a test does not change is valid.
struct TestMessage {
    enum Encoding {
        case der
        /// Indefinite lengths, and the content in segments of this size, as Xcode writes them.
        case ber(segment: Int)
    }

    var content: [UInt8]
    /// The enclosed certificates in DER.
    var certificates: [[UInt8]]
    var signers: [Signer]
    var type = OID.signedData
    var contentType = OID.data
    var isDetached = false
    /// What the message says about digests; the signers say it again.
    var digestAlgorithms = [DER.sequence(DER.oid(OID.sha256), DER.null)]
    var encoding = Encoding.der

    enum OID {
        static let signedData = "1.2.840.113549.1.7.2"
        static let data = "1.2.840.113549.1.7.1"
        static let digestedData = "1.2.840.113549.1.7.5"
        static let sha256 = "2.16.840.1.101.3.4.2.1"
        static let sha1 = "1.3.14.3.2.26"
        static let sha512 = "2.16.840.1.101.3.4.2.3"
        static let rsaEncryption = "1.2.840.113549.1.1.1"
        static let sha256WithRSA = "1.2.840.113549.1.1.11"
        static let contentType = "1.2.840.113549.1.9.3"
        static let messageDigest = "1.2.840.113549.1.9.4"
        static let signingTime = "1.2.840.113549.1.9.5"
    }

    struct Signer {
        /// SignerIdentifier in DER.
        var identifier: [UInt8]
        var version = 1
        var digest = OID.sha256
        var signatureAlgorithm = OID.rsaEncryption
        /// Attributes in DER; nil for none.
        var attributes: [[UInt8]]?
        var signature: [UInt8]

        var der: [UInt8] {
            DER.sequence(
                DER.integer(version), identifier, DER.sequence(DER.oid(digest), DER.null),
                attributes.map { DER.value(0xA0, $0.flatMap { $0 }) } ?? [],
                DER.sequence(DER.oid(signatureAlgorithm), DER.null), DER.octetString(signature))
        }
    }

    var encoded: [UInt8] {
        let body =
            DER.integer(1) + DER.set(digestAlgorithms.flatMap { $0 }) + encapsulated
            + (certificates.isEmpty ? [] : DER.value(0xA0, certificates.flatMap { $0 }))
            + DER.set(signers.flatMap(\.der))
        return constructed(0x30, DER.oid(type) + constructed(0xA0, constructed(0x30, body)))
    }

    private var encapsulated: [UInt8] {
        constructed(0x30, DER.oid(contentType) + (isDetached ? [] : constructed(0xA0, octets)))
    }

    private var octets: [UInt8] {
        guard case .ber(let size) = encoding else { return DER.octetString(content) }
        let segments = stride(from: 0, to: content.count, by: size).map { start in
            DER.octetString(Array(content[start..<min(start + size, content.count)]))
        }
        return constructed(0x24, segments.flatMap { $0 })
    }

    private func constructed(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard case .ber = encoding else { return DER.value(tag, content) }
        return BER.indefinite(tag, content)
    }

    /// An attribute with its values in DER.
    static func attribute(_ oid: String, _ values: [UInt8]...) -> [UInt8] {
        DER.sequence(DER.oid(oid), DER.set(values.flatMap { $0 }))
    }
}

/// An encoder of what BER has and DER has not.
enum BER {
    static func indefinite(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, 0x80] + content + [0, 0] }
}
