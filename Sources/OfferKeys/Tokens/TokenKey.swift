package import OfferCore
package import OfferCrypto
import OfferPKCS11

/// A P-256 key in a PKCS#11 token. The token signs, and libcrypto hashes and verifies with the public half.
package final class TokenKey: PrecomputableKeyPair {
    package let settings: TokenKeySettings
    let connection: TokenConnection
    /// The public point, encoded according to SEC 1 section 2.3.3.
    private let point: [UInt8]
    private let publicHalf: VerifyingKey
    /// The public half for signatures submitted by callers, which are verified at idle priority and must not share a lock.
    private let presented: VerifyingKey

    package let fingerprint: String

    /// Finds the key, checks it, and tests it: a signature over random bytes must verify with the public half.
    package init(_ settings: TokenKeySettings, in connection: TokenConnection) throws(TokenFault) {
        self.settings = settings
        self.connection = connection
        point = try connection.withSession { session throws(TokenFault) in
            try session.read(settings.uri.key).point
        }
        do throws(OpenSSLError) {
            publicHalf = try VerifyingKey(point: point)
            presented = try VerifyingKey(point: point)
            fingerprint = Hexadecimal.text(of: try SHA256.hash(publicHalf.der))
        } catch { throw .badPublicKey }
        let (message, signature) = try testSignature()
        guard (try? publicHalf.verify(signature, of: message)) == true else { throw .halvesDoNotMatch }
    }

    package var threads: (any SigningThreads)? { connection.threads }

    package func sign(_ message: [UInt8]) throws -> [UInt8] {
        let hash = try SHA256.hash(message)
        let bytes = try connection.sign(hash, with: settings.uri.key, of: point)
        guard let signature = RawSignature(bytes: bytes) else { throw TokenFault.signatureSize(bytes.count) }
        return signature.der
    }

    package func verify(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        try presented.verify(signature, of: message)
    }

    package func verify(
        _ signature: [UInt8], of message: [UInt8], hashedBy digest: SignatureDigest
    ) throws(OpenSSLError) -> Bool {
        try presented.verify(signature, of: message, hashedBy: digest)
    }

    package func verifyOwn(_ signature: [UInt8], of message: [UInt8]) throws(OpenSSLError) -> Bool {
        try publicHalf.verify(signature, of: message)
    }

    package func precompute() throws -> Bool {
        guard !publicHalf.isPrecomputed else { return false }
        let (message, signature) = try connection.threads.wait(within: .seconds(1)) {
            Result { try self.testSignature() }
        }
        .get()
        return try publicHalf.precompute(provenBy: signature, of: message)
    }

    package func releasePrecomputation() { publicHalf.releasePrecomputation() }

    private func testSignature() throws(TokenFault) -> (message: [UInt8], signature: [UInt8]) {
        do {
            let message = try RandomSecret.make()
            return (message, try sign(message))
        } catch let fault as TokenFault { throw fault } catch { throw .unexpected("\(error)") }
    }
}

extension TokenKey {
    /// The label of the token, or another attribute that the URI has.
    package var tokenName: String {
        let token = settings.place.token
        return token.label ?? token.serial ?? token.model ?? token.manufacturer ?? "slot \(token.slot ?? 0)"
    }

    /// Creates a key in a token, as one that can only sign and that the token does not give out, and proves that it signs. If
    /// it does not, both of its halves are destroyed again.
    /// - Parameters:
    ///   - settings: a URI with the label of the key.
    ///   - number: the private number, 32 bytes.
    ///   - key: the same key, whose public half is copied.
    /// - Throws: `.keyExists` if the token has a key under this name.
    package static func create(
        _ settings: TokenKeySettings, from key: SigningKey, number: SecretBytes, in connection: TokenConnection
    ) throws(TokenFault) -> TokenKey {
        guard let label = settings.uri.key.label else { throw .noLabel }
        let session = try connection.openForWriting()
        let point: [UInt8]
        do throws(OpenSSLError) { point = Array(try key.verifyingKey.der.suffix(65)) } catch {
            throw .unexpected("\(error)")
        }
        let identifier = settings.uri.key.identifier ?? Array(label.utf8)
        let isTaken: Bool
        let created: (privateKey: PKCS11Session.Object, publicKey: PKCS11Session.Object)
        do throws(PKCS11Error) {
            var taken: [PKCS11Session.Object] = []
            for name in [PKCS11URI.Key(label: label), PKCS11URI.Key(identifier: identifier)] {
                taken += try session.objects(.privateKey, name) + session.objects(.publicKey, name)
            }
            isTaken = !taken.isEmpty
        } catch { throw .module(error) }
        guard !isTaken else { throw .keyExists }
        do throws(PKCS11Error) {
            created = try number.withSpan { number throws(PKCS11Error) in
                try session.create(label: label, identifier: identifier, number: number, point: point)
            }
        } catch { throw .module(error) }
        do throws(TokenFault) { return try TokenKey(settings, in: connection) } catch {
            let halves = [created.privateKey, created.publicKey]
            let remain = halves.filter { half in (try? session.destroy(half)) == nil }
            guard remain.isEmpty else { throw .notDestroyed("\(error)") }
            throw error
        }
    }
}
