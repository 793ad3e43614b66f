import OfferCore
import OfferCrypto

extension Secret {
    /// Compares a password with this secret. The duration depends neither on the secret nor on how much of the password
    /// matches.
    ///
    /// It compares digests, so it does not reveal even the length of the secret. An empty secret matches nothing.
    func matches(_ password: Secret) throws(OpenSSLError) -> Bool {
        let digests = (try SHA256.hash(Array(reveal.utf8)), try SHA256.hash(Array(password.reveal.utf8)))
        // The comparison has no early exit.
        let difference = zip(digests.0, digests.1).reduce(0) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 && !reveal.isEmpty
    }
}
