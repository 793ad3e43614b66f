import OfferCrypto

extension FuzzTarget {
    /// OCSP responses. An input that is not a response is taken for ResponseData, which the target signs, so that
    /// everything after the signature is reached too.
    static let ocspResponse = FuzzTarget("ocsp-response") { input throws(BrokenPromise) in
        let (leaf, intermediate, root) = (AppStoreKeys.jws[0], AppStoreKeys.jws[1], AppStoreKeys.jws[2])
        if let response = try answer(input, about: leaf, issuedBy: intermediate) {
            // Certificates in a response are not signed, so not every byte is a seed's.
            try promise("only an answer that the issuer signed counts", isGenuine(response))
        }
        try promise(
            "an answer of one issuer does not serve for another",
            try answer(input, about: intermediate, issuedBy: root) == nil)
        guard input.first == 0x30, let signed = signed(input) else { return }
        guard let response = try answer(signed, about: leaf, issuedBy: intermediate) else { return }
        let now = AppStoreKeys.now
        try promise("an answer ends after it begins", response.thisUpdate <= response.goodUntil)
        try promise("an answer is not from the future", response.thisUpdate <= now + OCSPResponse.clockSkew)
        try promise("an answer is in force", response.goodUntil >= now - OCSPResponse.clockSkew)
    }

    private static func answer(
        _ bytes: [UInt8], about certificate: X509Certificate, issuedBy issuer: X509Certificate
    ) throws(BrokenPromise) -> OCSPResponse? {
        do throws(OCSPFailure) {
            return try OCSPResponse(verifying: bytes, about: certificate, issuedBy: issuer, at: AppStoreKeys.now)
        } catch {
            try promise("no error quotes a response", !Marked.isIn("\(error)"))
            return nil
        }
    }

    /// Whether an answer is one of the seeds'.
    private static func isGenuine(_ response: OCSPResponse) -> Bool {
        let now = AppStoreKeys.now
        guard response.thisUpdate == now else { return false }
        switch response.status {
        case .good: return [now, now + 3600].contains(response.goodUntil)
        case .revoked(let date): return date == now - 9 && response.goodUntil == now + 3600
        case .unknown: return response.goodUntil == now + 3600
        }
    }

    /// A response with the intermediate's signature over `data`.
    private static func signed(_ data: [UInt8]) -> [UInt8]? {
        guard let signature = try? AppStoreKeys.intermediateKey.sign(data) else { return nil }
        let ecdsaWithSHA256: [UInt8] = [0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]
        let basicOCSP: [UInt8] = [0x06, 0x09, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x01]
        let basic = DERElement.der(0x30, data + ecdsaWithSHA256 + DERElement.der(0x03, [0] + signature))
        let bytes = DERElement.der(0x30, basicOCSP + DERElement.der(0x04, basic))
        return DERElement.der(0x30, [0x0A, 0x01, 0x00] + DERElement.der(0xA0, bytes))
    }
}
