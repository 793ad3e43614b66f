import OfferCore
import OfferEligibility

/// App Store data in its transport form.
enum InspectedInput {
    /// A JWS in compact form.
    case jws([UInt8])
    /// CMS in BER or DER.
    case receipt([UInt8])
    /// A property list in text form.
    case legacyReceipt([UInt8])

    /// Recognises data by its first bytes. Text may be surrounded by white space, and base64 may contain line breaks.
    /// - Returns: nil if the data is not recognised.
    init?(_ input: [UInt8]) {
        if Self.isSequence(input) {
            // White space at the end may be part of the BER.
            self = .receipt(input)
            return
        }
        let text = Self.trimmed(input)
        if text.first == UInt8(ascii: "{") {
            self.init(braced: Array(text))
        } else if text.contains(UInt8(ascii: ".")) {
            // A JWS that was copied with line breaks still begins with `{"` in base64url.
            guard text.starts(with: "eyJ".utf8) || text.allSatisfy(Self.isVisible) else { return nil }
            self = .jws(Array(text))
        } else {
            self.init(base64: text.filter { !$0.isASCIIWhiteSpace })
        }
    }

    /// Recognises a body that the App Store posts, or a property list.
    private init?(braced text: [UInt8]) {
        if case .object(let members) = try? JSONReader.read(text) {
            guard case .string(let jws) = members["signedPayload"] else { return nil }
            self = .jws(jws)
        } else {
            guard Self.isPropertyList(text) else { return nil }
            self = .legacyReceipt(text)
        }
    }

    private init?(base64 text: [UInt8]) {
        guard let bytes = Base64.bytes(of: text) else { return nil }
        if Self.isSequence(bytes) {
            self = .receipt(bytes)
        } else {
            guard Self.isPropertyList(bytes) else { return nil }
            self = .legacyReceipt(bytes)
        }
    }

    /// Returns true if the bytes begin like BER: with the tag of a SEQUENCE, which is the digit 0 in ASCII, and a
    /// length of more than one byte.
    private static func isSequence(_ bytes: [UInt8]) -> Bool {
        bytes.count > 1 && bytes[0] == DERTag.sequence.rawValue && bytes[1] >= 0x80
    }

    /// Returns true if the text is a property list with `purchase-info`, like a legacy receipt.
    private static func isPropertyList(_ text: [UInt8]) -> Bool {
        guard trimmed(text).first == UInt8(ascii: "{") else { return false }
        do { _ = try LegacyTransactionReceipt(text) } catch { return error != .noPurchaseInfo && error != .tooLarge }
        return true
    }

    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let start = bytes.firstIndex { !$0.isASCIIWhiteSpace } ?? bytes.endIndex
        let end = bytes.lastIndex { !$0.isASCIIWhiteSpace }.map { $0 + 1 } ?? start
        return bytes[start..<end]
    }

    /// Returns true if a byte is printable ASCII other than a space.
    private static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }
}

/// The transport form of data, recognised without decoding the data.
enum InspectedForm: Hashable {
    case jws
    case receipt

    /// The name with an article, for sentences.
    var title: String {
        switch self {
        case .jws: "a JWS"
        case .receipt: "a receipt"
        }
    }
}

extension InspectedKind {
    var form: InspectedForm { payloadKind == nil ? .receipt : .jws }
}

extension InspectedInput {
    var form: InspectedForm {
        switch self {
        case .jws: .jws
        case .receipt, .legacyReceipt: .receipt
        }
    }
}
