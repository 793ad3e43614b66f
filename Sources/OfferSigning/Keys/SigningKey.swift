package import OfferCore
import OfferCrypto
import OfferFiles

/// An In-App Purchase key from App Store Connect, with its key ID.
///
/// Keep one value for as long as the server runs. Loading tests the key and prepares faster verification, which takes tens of
/// milliseconds. Threads may share it.
public struct SigningKey: Sendable {
    let id: KeyID
    let pair: any SigningKeyPair
    /// The public half, which verifies signatures and is not secret.
    public let publicKey: PublicKey

    /// The key ID, as App Store Connect shows it.
    public var keyID: String { id.description }

    /// The maximum size of a key file in bytes. A P-256 key takes about 250.
    private static let maximumFileSize = 8 * 1024

    /// Loads a key from its text.
    /// - Parameters:
    ///   - keyID: the key ID, such as `2X9R4HXF34`.
    ///   - pem: the unencrypted key as PEM, as in the `.p8` file from App Store Connect.
    /// - Throws: ``SigningFailure``; its code is `invalid_field` or `unusable_key`.
    public init(keyID: String, pem: String) throws(SigningFailure) {
        try self.init(keyID: keyID, text: SecretBytes(copying: pem.utf8))
    }

    /// Loads a key from a `.p8` file. The copy in memory is overwritten after use.
    /// - Parameters:
    ///   - keyID: the key ID, such as `2X9R4HXF34`.
    ///   - path: the path of the file.
    /// - Throws: ``SigningFailure``; its code is `invalid_field` or `unusable_key`.
    public init(keyID: String, contentsOfFile path: String) throws(SigningFailure) {
        let text: SecretBytes
        do throws(RegularFile.Fault) {
            // One byte more than the maximum, because a file that fills the memory may be longer.
            text = try SecretBytes(capacity: Self.maximumFileSize + 1) { bytes throws(RegularFile.Fault) in
                try RegularFile.read(path, into: &bytes).count
            }
        } catch {
            throw SigningFailure(.unusableKey, "The key file cannot be read: \(error).")
        }
        try self.init(keyID: keyID, text: text)
    }

    private init(keyID: String, text: SecretBytes) throws(SigningFailure) {
        let id = try SigningFailure.checking { () throws(FieldError) in try KeyID(utf8: Array(keyID.utf8)) }
        do throws(SigningKeyError) {
            let pair = try OfferCrypto.SigningKey(text: text)
            // A key that cannot be prepared still works, only slower.
            _ = try? pair.precompute()
            self.init(id: id, pair: pair)
        } catch {
            throw SigningFailure(.unusableKey, "The key cannot be used: \(error).")
        }
    }

    package init(id: KeyID, pair: any SigningKeyPair) {
        self.id = id
        self.pair = pair
        publicKey = PublicKey(id: id) { try pair.verify($0, of: $1, hashedBy: $2) }
    }
}
