import AppStoreData
import OfferCore
import OfferEligibility

/// Advice about App Store data that was sent in the wrong member of `proofs` or in the wrong encoding. None of the data
/// is verified.
///
/// The advice consists of sentences for the caller. They name the kind of data and the place where it belongs.
enum MisplacedProof {
    /// Returns advice about a text that was sent as a JWS.
    /// - Returns: nil if the text has the form of a JWS, or is of an unknown kind.
    static func advice(forJWS text: [UInt8]) -> String? {
        guard !isJWS(text) else { return nil }
        if let json = adviceForJSON(text) { return json }
        guard let bytes = decoded(text) else { return nil }
        if isReceipt(bytes) || decoded(bytes).map(isReceipt) == true {
            return "It is an app receipt, not a JWS. Send it as proofs.appReceipt."
        }
        return isJWS(bytes) ? "It is a JWS in base64. Send the JWS itself." : nil
    }

    /// Returns advice about a text that was sent as a receipt in base64.
    /// - Returns: nil if the text can be a receipt, or is of an unknown kind.
    static func advice(forReceipt text: [UInt8]) -> String? {
        if isJWS(text) { return "It is not a receipt. " + (kind(ofJWS: text).map(advice) ?? unknownJWS) }
        if let json = adviceForJSON(text) { return json }
        let visible = text.filter { !$0.isASCIIWhiteSpace }
        guard let bytes = decoded(visible) else { return nil }
        if isJWS(bytes) {
            return "It is not a receipt, but a JWS in base64. " + (kind(ofJWS: bytes).map(advice) ?? unknownJWS)
        }
        if decoded(bytes).map(isReceipt) == true {
            return "The receipt is encoded in base64 twice. Encode it once."
        }
        guard isReceipt(bytes), Base64.bytes(of: text) == nil else { return nil }
        if visible.count != text.count { return "The receipt's base64 must not have line breaks or spaces." }
        return "The receipt is in base64url or has no padding. Use standard base64 with padding."
    }

    /// Returns advice about a JWS whose kind does not match its member.
    static func advice(forOtherKind text: [UInt8]) -> String? { kind(ofJWS: text).map(advice) }

    private static let unknownJWS =
        "It is a JWS. Send it in the member for its kind, such as proofs.signedTransactions."

    private static func advice(for kind: PayloadKind) -> String {
        switch kind {
        case .transaction: "It is the JWS of a transaction. Send it in proofs.signedTransactions."
        case .renewalInfo: "It is the JWS of renewal info. Send it in proofs.signedRenewalInfos."
        case .appTransaction: "It is the JWS of an AppTransaction. Send it as proofs.signedAppTransaction."
        case .notification:
            "It is the signedPayload of a notification, which is not a proof. Send its data.signedTransactionInfo in "
                + "proofs.signedTransactions, or the whole notification to /v1/app-store-notifications."
        case .retentionRequest: "It is a retention message request, which is not a proof."
        }
    }

    /// Returns advice about JSON, such as a body that the App Store posts or a response of verifyReceipt.
    private static func adviceForJSON(_ text: [UInt8]) -> String? {
        guard text.first(where: { !$0.isASCIIWhiteSpace }) == UInt8(ascii: "{"),
            case .object(let members)? = try? JSONReader.read(text)
        else { return nil }
        if members["signedPayload"] != nil { return advice(for: .notification) }
        if members["latest_receipt"] != nil || members["receipt"] != nil {
            return "It is the JSON response of verifyReceipt, which Apple does not sign. "
                + "Send its latest_receipt, or the app's receipt, as proofs.appReceipt."
        }
        return "It is decoded JSON. Send the data as Apple signed it."
    }

    private static func kind(ofJWS text: [UInt8]) -> PayloadKind? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let json = Base64URL.bytes(of: parts[1]) else { return nil }
        return try? PayloadObject(json: json).kind()
    }

    /// Returns true if a text has three parts and begins with a JSON object in base64url.
    private static func isJWS(_ text: [UInt8]) -> Bool {
        text.starts(with: "eyJ".utf8) && text.count { $0 == UInt8(ascii: ".") } == 2
    }

    /// Returns true if the bytes begin like a BER SEQUENCE whose length takes more than one byte.
    private static func isReceipt(_ bytes: [UInt8]) -> Bool {
        bytes.count > 1 && bytes[0] == 0x30 && bytes[1] >= 0x80
    }

    /// Decodes base64 or base64url, with or without padding.
    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        let end = text.lastIndex { $0 != UInt8(ascii: "=") }.map { $0 + 1 } ?? 0
        let url = text[..<end].map { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        return url.isEmpty ? nil : Base64URL.bytes(of: url)
    }
}
