import OfferCore
import OfferCrypto
package import OfferHTTP
import SubscriberStore

/// The value of an `Idempotency-Key` header (IETF draft httpapi-idempotency-key-header): a string chosen by the client,
/// which names one request. The draft asks for quotation marks (RFC 8941 section 3.3.3), but they may be missing, as many
/// clients leave them out.
package struct IdempotencyKey: Hashable {
    package let utf8: [UInt8]

    /// The permitted number of characters, without quotation marks.
    package static let lengths = 1...128

    /// - Returns: nil if the request has no key.
    package init?(of request: HTTPRequest) throws(Problem) {
        guard let value = request.idempotencyKey else { return nil }
        guard let key = Self.unquoted(Array(value.utf8)), Self.lengths.contains(key.count) else {
            throw .invalidIdempotencyKey
        }
        utf8 = key
    }

    /// - Returns: nil for anything other than one string of visible ASCII characters.
    private static func unquoted(_ value: [UInt8]) -> [UInt8]? {
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        guard value.first == quote else {
            return value.allSatisfy { (0x21...0x7E).contains($0) && $0 != quote } ? value : nil
        }
        var key: [UInt8] = []
        var isEscaped = false
        for (index, byte) in value.enumerated().dropFirst() {
            if isEscaped {
                guard byte == quote || byte == backslash else { return nil }
                key.append(byte)
                isEscaped = false
            } else if byte == quote {
                return index == value.count - 1 ? key : nil
            } else if byte == backslash {
                isEscaped = true
            } else {
                guard (0x20...0x7E).contains(byte) else { return nil }
                key.append(byte)
            }
        }
        return nil
    }
}

extension IdempotentRequest {
    /// Each caller, and each user, has their own keys.
    init(_ key: IdempotencyKey, _ request: HTTPRequest, from principal: Principal) throws(Problem) {
        let target = request.query.map { "\(request.path)?\($0)" } ?? request.path
        do {
            self.init(
                id: try SHA256.hash(principal.identity + key.utf8),
                digest: try SHA256.hash(Array("\(request.method) \(target)\n".utf8) + request.body))
        } catch { throw .signingUnavailable }
    }
}

extension Principal {
    /// The principal's name, which no other principal has. Each part is preceded by its length, so that the name cannot
    /// continue into the text after it.
    fileprivate var identity: [UInt8] {
        let parts: [[UInt8]] =
            switch self {
            case .anyone: []
            case .token(let caller): [Array(caller.name.utf8)]
            case .user(let issuer, let customer): [Array(issuer.name.utf8), Array(customer.utf8)]
            }
        return Array("\(parts.count) ".utf8) + parts.flatMap { Array("\($0.count) ".utf8) + $0 }
    }
}
