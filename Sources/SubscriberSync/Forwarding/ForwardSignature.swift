import OfferConfiguration
package import OfferCore
package import OfferCrypto
import OfferEligibility

/// The signature of forwarded notifications, which shows a receiver that they come from this service.
///
/// `Offer-Signer-Signature: t=1795300000,v1=5257a8…`: the time of the attempt in seconds since 1970, and the
/// HMAC-SHA256, in hexadecimal, of that number, a full stop and the body. The time lets a receiver refuse replayed
/// notifications.
package struct ForwardSignature: Sendable {
    package static let header = "Offer-Signer-Signature"

    private let key: HMACSHA256Key

    package init(_ key: Secret) throws(OpenSSLError) {
        self.key = try HMACSHA256Key(Array(key.reveal.utf8))
    }

    package func value(for body: [UInt8], at now: Timestamp) throws(OpenSSLError) -> String {
        let seconds = String(now.milliseconds / 1000)
        let code = try key.code(of: Array("\(seconds).".utf8), body[...])
        return "t=\(seconds),v1=\(Hexadecimal.text(of: code))"
    }
}
