import OfferCore

/// A stand-in for a signing key in tests of key handling. Its signatures are empty.
package final class EmptyKeyPair: SigningKeyPair {
    package let fingerprint: String

    package init(fingerprint: String = "") {
        self.fingerprint = fingerprint
    }

    package func sign(_ message: [UInt8]) -> [UInt8] { [] }
    package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool { true }
}
