import OfferCore
import OfferCrypto

extension FuzzTarget {
    /// The parsers of private and public keys.
    static let keyText = FuzzTarget("key-text") { input throws(BrokenPromise) in
        switch Result(catching: { () throws(SigningKeyError) in try SigningKey(text: input) }) {
        case .success(let key): try checkSigning(with: key)
        case .failure(let error): try promise("no error message quotes a key", !Marked.isIn("\(error)"))
        }
        switch Result(catching: { () throws(OpenSSLError) in try VerifyingKey(pem: input) }) {
        case .success(let key): try promise("a public key round-trips", (try? VerifyingKey(der: key.der)) != nil)
        case .failure(let error): try promise("no error message quotes a key", !Marked.isIn("\(error)"))
        }
    }

    private static func checkSigning(with key: SigningKey) throws(BrokenPromise) {
        let message = Array("message".utf8)
        guard let signature = try? key.sign(message), let publicKey = try? key.verifyingKey else {
            throw BrokenPromise(promise: "an accepted key signs and has a public half")
        }
        try promise("the key verifies its own signature", (try? key.verify(signature, of: message)) == true)
        try promise(
            "the public half also verifies the signature", (try? publicKey.verify(signature, of: message)) == true)
        try promise(
            "the signature verifies for no other message",
            (try? publicKey.verify(signature, of: message + [0])) == false)
        try promise(
            "the fingerprint is the hash of the public key",
            key.fingerprint == (try? SHA256.hash(publicKey.der)).map(hexadecimal)
        )
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String { Hexadecimal.text(of: bytes) }
}
