import OfferCore
import OfferCrypto
import OfferKeys

/// The form in which a key is kept.
enum KeyForm {
    /// Returns a text such as `PKCS #8, PEM`, or `token offers`.
    static func text(of pair: any SigningKeyPair) -> String {
        if let key = pair as? TokenKey { return "token \(key.tokenName.printable)" }
        return (pair as? SigningKey)?.form ?? "-"
    }
}
