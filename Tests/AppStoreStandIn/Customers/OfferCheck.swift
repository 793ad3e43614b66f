import AppStoreTestSupport
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility

/// The check of a promotional offer at the purchase: a V1 signature or a JWS by a known key, not older than a day, with a nonce
/// that was not used before.
final class OfferCheck: Sendable {
    /// A signed offer. Each field is as it was sent, and empty if it is missing.
    struct Offer {
        let productID, offerID, keyID, nonce, timestamp: String
        let applicationUsername: String
        let signature: String
        let compactJWS: String

        /// - Parameter members: of an offer in an answer of `/v1/promotional-offers` or `/v1/decisions`.
        init(_ members: JSONObject) {
            var signed = members
            if case .object(let object)? = members["signature"] { signed = object }
            func text(_ object: JSONObject, _ name: String) -> String { CustomerDesk.text(object[name]) ?? "" }
            (productID, offerID) = (text(members, "productID"), text(members, "offerID"))
            let username = text(members, "applicationUsername")
            applicationUsername = username.isEmpty ? text(members, "appAccountToken") : username
            (keyID, nonce) = (text(signed, "keyID"), text(signed, "nonce"))
            (timestamp, signature) = (text(signed, "timestamp"), text(signed, "signature"))
            compactJWS = text(members, "compactJWS")
        }

        /// - Parameter members: of the signature in an answer to the App Store.
        init(retention members: JSONObject) {
            func text(_ name: String) -> String { CustomerDesk.text(members[name]) ?? "" }
            (productID, offerID) = (text("productId"), text("offerIdentifier"))
            (keyID, nonce, timestamp) = (text("keyId"), text("nonce"), text("timestamp"))
            (applicationUsername, signature) = (text("appAccountToken"), text("encodedSignature"))
            compactJWS = ""
        }
    }

    private let bundleID: String
    private let keys: [String: SigningKey]
    private let usedNonces = NIOLockedValueBox<Set<String>>([])

    /// How long a signature is valid, in milliseconds.
    private static let lifetime: Int64 = 86_400_000

    init(bundleID: String, keys: [String: SigningKey]) {
        self.bundleID = bundleID
        self.keys = keys
    }

    /// - Parameter transactionIDs: those of the customer, one of which a JWS must name.
    /// - Throws: StoreKit's name of the refusal.
    func check(_ offer: Offer, of transactionIDs: [String], at now: Int64) throws {
        let nonce =
            try offer.compactJWS.isEmpty ? checkV1(offer, at: now) : checkJWS(offer, of: transactionIDs, at: now)
        guard usedNonces.withLockedValue({ $0.insert(nonce).inserted }) else { throw Self.refusal }
    }

    private static let refusal = StandInWorld.Refusal(4_000_000, "invalidOfferSignature")

    /// - Returns: the nonce.
    private func checkV1(_ offer: Offer, at now: Int64) throws -> String {
        let payload = [
            bundleID, offer.keyID, offer.productID, offer.offerID, offer.applicationUsername, offer.nonce,
            offer.timestamp,
        ].joined(separator: "\u{2063}")
        guard let time = Int64(offer.timestamp), abs(now - time) < Self.lifetime, let key = keys[offer.keyID],
            let signature = Base64.bytes(of: Array(offer.signature.utf8)),
            (try? key.verify(signature, of: Array(payload.utf8))) == true
        else { throw Self.refusal }
        return offer.nonce
    }

    /// - Returns: the nonce.
    private func checkJWS(_ offer: Offer, of transactionIDs: [String], at now: Int64) throws -> String {
        let text = Array(offer.compactJWS.utf8)
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let raw = Base64URL.bytes(of: parts[2]).flatMap({ RawSignature(bytes: $0) }),
            let key = keys[CustomerDesk.text(header["kid"]) ?? ""],
            (try? key.verify(raw.der, of: Array(text[..<(parts[2].startIndex - 1)]))) == true,
            CustomerDesk.text(claims["bid"]) == bundleID, CustomerDesk.text(claims["productId"]) == offer.productID,
            CustomerDesk.text(claims["offerIdentifier"]) == offer.offerID,
            let issued = CustomerDesk.text(claims["iat"]).flatMap({ Int64($0) }),
            abs(now - issued * 1000) < Self.lifetime,
            CustomerDesk.text(claims["transactionId"]).map(transactionIDs.contains) ?? true,
            let nonce = CustomerDesk.text(claims["nonce"])
        else { throw Self.refusal }
        return nonce
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let bytes = Base64URL.bytes(of: part), case .object(let object)? = try? JSONReader.read(bytes) else {
            return nil
        }
        return object
    }
}
