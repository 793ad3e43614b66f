import OfferCore
import OfferCrypto

extension Secret {
    /// Compares a password with this secret. The time it takes depends on neither the secret nor how much of it is right.
    ///
    /// Digests are compared, so not even the length of the secret shows. An empty secret matches nothing.
    func matches(_ password: Secret) throws(OpenSSLError) -> Bool {
        let digests = (try SHA256.hash(Array(reveal.utf8)), try SHA256.hash(Array(password.reveal.utf8)))
        // No early exit.
        let difference = zip(digests.0, digests.1).reduce(0) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 && !reveal.isEmpty
    }
}
