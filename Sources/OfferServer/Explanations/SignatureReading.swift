import OfferCore

/// One way to read the text of a V1 signature, and what is wrong with the text if that is the right one.
struct SignatureReading {
    /// ASN.1 DER.
    let der: [UInt8]
    /// None if the text is what StoreKit takes.
    let findings: [Finding]

    /// Every way that leads to a signature, at most two.
    static func all(of text: [UInt8], field: String) -> [SignatureReading] {
        spellings(of: text, field: field).compactMap { spelling in
            guard let (bytes, findings) = decoded(spelling.text, field: field) else { return nil }
            func reading(_ signature: RawSignature, _ form: Finding?) -> SignatureReading {
                SignatureReading(
                    der: signature.der, findings: spelling.findings + findings + (form.map { [$0] } ?? []))
            }
            if let signature = RawSignature(der: bytes) { return reading(signature, nil) }
            if let signature = RawSignature(bytes: bytes) {
                return reading(signature, Finding(.signatureRaw, field: field))
            }
            return SignatureForm.signature(inNearly: bytes).map {
                reading($0, Finding(.signatureNotDER, field: field))
            }
        }
    }

    /// What is wrong with a text that leads to none.
    static func defect(of text: [UInt8], field: String) -> Finding {
        let isDecoded = spellings(of: text, field: field).contains { decoded($0.text, field: field) != nil }
        return Finding(isDecoded ? .signatureMalformed : .signatureUnreadable, field: field)
    }

    /// The text without what may have happened to it on its way.
    private static func spellings(of text: [UInt8], field: String) -> [(text: [UInt8], findings: [Finding])] {
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
        // 64 bytes of r and s, or 70 and more of DER: base64 of a signature is never that long and has other letters.
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
        if base64.hasBitsLeft { findings.append(Finding(.base64BitsLeft, field: field)) }
        // No signature consists of letters and digits of ASCII alone: 64 bytes at random would have to be below 0x80.
        let isText = base64.bytes.count > 72 && base64.bytes.allSatisfy { $0 < 0x80 }
        guard isText, let (bytes, inner) = decoded(base64.bytes.filter { !$0.isASCIIWhiteSpace }, field: field) else {
            return (base64.bytes, findings)
        }
        // Of base64 in base64 in base64 it is said once.
        let isSaid = inner.contains { $0.cause == .signatureHexadecimal || $0.cause == .signatureBase64Twice }
        return (bytes, findings + (isSaid ? [] : [Finding(.signatureBase64Twice, field: field)]) + inner)
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
