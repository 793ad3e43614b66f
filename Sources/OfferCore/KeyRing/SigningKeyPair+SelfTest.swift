/// The result of a key's self-test.
package enum KeyTestResult: Sendable {
    case passed
    case unable(KeyFault)
    /// The signature is bad, or verification cannot tell good signatures from bad. The machine can no longer be trusted
    /// with this key.
    case failed(reason: String)
}

/// A failed cryptographic operation with a key. It may be temporary, for example if memory runs out, and says nothing
/// about the key's signatures.
package enum KeyFault: Sendable {
    case cannotSign(any Error)
    case cannotVerify(any Error)
}

extension SigningKeyPair {
    /// Signs `message` and verifies the signature in the same way as an offer's. Verification must refuse an altered
    /// signature and an altered message. If it accepted everything, bad signatures would be sent.
    /// - Parameter message: not empty.
    package func selfTest(signing message: [UInt8]) -> KeyTestResult {
        let signature: [UInt8]
        do { signature = try sign(message) } catch { return .unable(.cannotSign(error)) }
        do {
            guard try verifyOwn(signature, of: message) else { return .failed(reason: "a good signature is refused") }
            guard try !verifyOwn(signature.flippingLastBit, of: message) else {
                return .failed(reason: "an altered signature is accepted")
            }
            guard try !verifyOwn(signature, of: message.flippingLastBit) else {
                return .failed(reason: "the signature of an altered message is accepted")
            }
            return .passed
        } catch {
            return .unable(.cannotVerify(error))
        }
    }
}

extension [UInt8] {
    /// The bytes with the last bit flipped, for tests with an altered signature or message.
    package var flippingLastBit: [UInt8] { dropLast() + suffix(1).map { $0 ^ 1 } }
}
