import OfferCore
import OfferEligibility

/// One way to read the text of a V1 signature, and the defects that this reading implies.
struct SignatureReading {
    /// The signature in ASN.1 DER.
    let der: [UInt8]
    /// The defects; empty if StoreKit accepts the text.
    let findings: [Finding]

    /// Lists the readings of the text that yield a signature. There are at most two.
    static func all(of text: [UInt8], field: String) -> [SignatureReading] {
        repairs(of: text, field: field).compactMap { repair in
            guard let (bytes, findings) = decoded(repair.text, field: field) else { return nil }
            func reading(_ signature: RawSignature, _ form: Finding?) -> SignatureReading {
                SignatureReading(
                    der: signature.der, findings: repair.findings + findings + (form.map { [$0] } ?? []))
            }
            if let signature = RawSignature(der: bytes) { return reading(signature, nil) }
            if let signature = RawSignature(bytes: bytes) {
                return reading(signature, Finding(.signatureRaw, field: field))
            }
            return LenientDER.signature(in: bytes).map {
                reading($0, Finding(.signatureNotDER, field: field))
            }
        }
    }

    /// Finds the defect of a string that cannot be read as a signature.
    static func defect(of text: [UInt8], field: String) -> Finding {
        let isDecoded = repairs(of: text, field: field).contains { decoded($0.text, field: field) != nil }
        return Finding(isDecoded ? .signatureMalformed : .signatureUnreadable, field: field)
    }

    /// Undoes the damage that a string may suffer in transit.
    private static func repairs(of text: [UInt8], field: String) -> [(text: [UInt8], findings: [Finding])] {
        var text = text
        var findings: [Finding] = []
        if text.contains(UInt8(ascii: "%")) {
            text = percentDecoded(text)
            findings.append(Finding(.signaturePercentEncoded, field: field))
        }
        guard text.contains(where: \.isASCIIWhiteSpace) else { return [(text, findings)] }
        let plus = text.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }
        return [
            (text.filter { !$0.isASCIIWhiteSpace }, findings + [Finding(.signatureWhiteSpace, field: field)]),
            (plus, findings + [Finding(.signaturePlusLost, field: field)]),
        ]
    }

    private static func decoded(_ text: [UInt8], field: String) -> (bytes: [UInt8], findings: [Finding])? {
        // The hexadecimal digits of r and s, or of DER. Base64 of a signature is never that long.
        if text.count >= 128,
            let bytes = Hexadecimal.bytes(of: String(decoding: text, as: UTF8.self), count: text.count / 2)
        {
            return (bytes, [Finding(.signatureHexadecimal, field: field)])
        }
        guard let base64 = LenientBase64(text) else { return nil }
        var findings: [Finding] = []
        if base64.hasURLAlphabet {
            findings.append(Finding(.signatureBase64URL, field: field))
        } else if !base64.isPadded {
            findings.append(Finding(.signatureUnpadded, field: field))
        }
        if base64.hasNonZeroPadBits { findings.append(Finding(.base64BitsLeft, field: field)) }
        // No signature consists only of ASCII: that would require 64 random bytes below 0x80.
        let isText = base64.bytes.count > 72 && base64.bytes.allSatisfy { $0 < 0x80 }
        guard isText, let (bytes, inner) = decoded(base64.bytes.filter { !$0.isASCIIWhiteSpace }, field: field) else {
            return (base64.bytes, findings)
        }
        // Repeated encoding is reported once.
        let isReported = inner.contains { $0.cause == .signatureHexadecimal || $0.cause == .signatureBase64Twice }
        return (bytes, findings + (isReported ? [] : [Finding(.signatureBase64Twice, field: field)]) + inner)
    }

    private static func percentDecoded(_ text: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), let pair = Hexadecimal.bytes(of: digits, count: 1) {
                decoded += pair
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }
}
