import TestSupport

/// An OCSP response (RFC 6960 section 4.2.1) that `openssl ocsp` would not make.
struct HandmadeResponse {
    /// One answer.
    struct Answer {
        /// A certificate, its issuer, and the digest that names it.
        var about = ("leaf", "intermediate", "-sha256")
        /// The tag and content of the status: good.
        var status: [UInt8] = [0x80, 0x00]
        var thisUpdate: [UInt8]
        var nextUpdate: [UInt8]?
        var extensions: [UInt8] = []
    }

    var answers: [Answer]
    private let producedAt: [UInt8]
    /// Who signs.
    var signer = "intermediate"
    /// Whose key the response names as the responder's.
    var responder: String?
    /// A digest's name and the object identifier of its use with ECDSA.
    var algorithm = Self.sha256
    var certificates: [String] = []
    var extensions: [UInt8] = []

    static let sha1 = ("sha1", [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01] as [UInt8])
    static let sha256 = ("sha256", [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02] as [UInt8])
    static let sha384 = ("sha384", [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x03] as [UInt8])
    static let sha512 = ("sha512", [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x04] as [UInt8])

    /// An extension 1.2.3.4.5, in the list that follows the tag.
    static func extensions(tag: UInt8, critical: Bool) -> [UInt8] {
        let object: [UInt8] = [0x06, 0x04, 0x2A, 0x03, 0x04, 0x05]
        let flag: [UInt8] = critical ? [0x01, 0x01, 0xFF] : []
        return DER.value(
            tag, DER.sequence(DER.sequence(object, flag, DER.octetString([0x05, 0x00]))))
    }

    /// - Parameters:
    ///   - thisUpdate: in seconds since 1970.
    ///   - nextUpdate: likewise.
    init(from thisUpdate: Int64, to nextUpdate: Int64?) {
        producedAt = DER.generalizedTime(thisUpdate)
        answers = [Answer(thisUpdate: DER.generalizedTime(thisUpdate), nextUpdate: nextUpdate.map(DER.generalizedTime))]
    }

    /// The signed response.
    func der(_ authority: OCSPCertificates) throws -> [UInt8] {
        let keyHash = try authority.keyHash(of: responder ?? signer)
        let data = DER.sequence(
            DER.value(0xA2, DER.octetString(keyHash)), producedAt,
            DER.value(0x30, try answers.flatMap { try $0.der(authority) }), extensions)
        let signature = try authority.sign(data, with: signer, digest: algorithm.0)
        let certificates = try certificates.flatMap { try authority.der($0) }
        let basic = DER.sequence(
            data, DER.sequence(DER.value(0x06, algorithm.1)), DER.value(0x03, [0] + signature),
            certificates.isEmpty ? [] : DER.value(0xA0, DER.value(0x30, certificates)))
        return Self.wrap(basic)
    }

    /// A successful response.
    /// - Parameter type: the object identifier's content. The default is that of a basic response.
    static func wrap(
        _ basic: [UInt8], type: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x01]
    ) -> [UInt8] {
        DER.sequence(
            [0x0A, 0x01, 0x00],
            DER.value(0xA0, DER.sequence(DER.value(0x06, type), DER.octetString(basic))))
    }
}

extension HandmadeResponse.Answer {
    fileprivate func der(_ authority: OCSPCertificates) throws -> [UInt8] {
        DER.sequence(
            try authority.identifier(of: about.0, issuedBy: about.1, digest: about.2), status, thisUpdate,
            nextUpdate.map { DER.value(0xA0, $0) } ?? [], extensions)
    }
}

extension OCSPCertificates {
    /// The CertID that `openssl ocsp` writes: the request's innermost sequence.
    func identifier(of name: String, issuedBy issuer: String, digest: String) throws -> [UInt8] {
        let request = try request(about: name, issuedBy: issuer, digest: digest)
        return (0..<4).reduce(request) { der, _ in DER.content(of: der) }
    }

    /// SHA-1 of a certificate's public key: the third value of a CertID that names it as issuer.
    func keyHash(of name: String) throws -> [UInt8] {
        let identifier = DER.content(of: try identifier(of: "leaf", issuedBy: name, digest: "-sha1"))
        let afterAlgorithm = Array(identifier.dropFirst(2 + DER.content(of: identifier).count))
        let afterName = Array(afterAlgorithm.dropFirst(2 + DER.content(of: afterAlgorithm).count))
        return DER.content(of: afterName)
    }
}
