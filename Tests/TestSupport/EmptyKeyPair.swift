import OfferCore

/// A key that signs nothing, for tests of key handling.
package final class EmptyKeyPair: SigningKeyPair {
    package let fingerprint: String

    package init(fingerprint: String = "") {
        self.fingerprint = fingerprint
    }

    package func sign(_ message: [UInt8]) -> [UInt8] { [] }
    package func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool { true }
}
