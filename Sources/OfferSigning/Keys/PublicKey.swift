import OfferCore
import OfferCrypto

/// The public half of an In-App Purchase key, with its key ID. It is not secret.
public struct PublicKey: Sendable {
    let id: KeyID
    /// Verifies a signature, in ASN.1 DER, over a digest of a message.
    let accepts: @Sendable (_ signature: [UInt8], _ message: [UInt8], _ digest: SignatureDigest) throws -> Bool

    /// The key ID, as App Store Connect shows it.
    public var keyID: String { id.description }

    /// Loads a public key from its text.
    /// - Parameters:
    ///   - keyID: the key ID, such as `2X9R4HXF34`.
    ///   - pem: a `PUBLIC KEY` block, as `openssl pkey -pubout` writes it.
    /// - Throws: ``SigningFailure``; its code is `invalid_field` or `unusable_key`.
    public init(keyID: String, pem: String) throws(SigningFailure) {
        let id = try SigningFailure.checking { () throws(FieldError) in try KeyID(utf8: Array(keyID.utf8)) }
        do throws(OpenSSLError) {
            let key = try VerifyingKey(pem: Array(pem.utf8))
            self.init(id: id) { try key.verify($0, of: $1, hashedBy: $2) }
        } catch {
            throw SigningFailure(.unusableKey, "The public key cannot be used: \(error).")
        }
    }

    init(id: KeyID, accepts: @escaping @Sendable ([UInt8], [UInt8], SignatureDigest) throws -> Bool) {
        self.id = id
        self.accepts = accepts
    }
}
