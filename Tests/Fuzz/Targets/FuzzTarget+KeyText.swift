import OfferCore
import OfferCrypto

extension FuzzTarget {
    /// The reader of private and public key texts.
    static let keyText = FuzzTarget("key-text") { input throws(BrokenPromise) in
        switch Result(catching: { () throws(SigningKeyError) in try SigningKey(text: input) }) {
        case .success(let key): try checkSigning(with: key)
        case .failure(let error): try promise("a problem repeats no part of a key", !Marked.isIn("\(error)"))
        }
        switch Result(catching: { () throws(OpenSSLError) in try VerifyingKey(pem: input) }) {
        case .success(let key): try promise("a public key round-trips", (try? VerifyingKey(der: key.der)) != nil)
        case .failure(let error): try promise("a problem repeats no part of a key", !Marked.isIn("\(error)"))
        }
    }

    private static func checkSigning(with key: SigningKey) throws(BrokenPromise) {
        let message = Array("message".utf8)
        guard let signature = try? key.sign(message), let publicKey = try? key.verifyingKey else {
            throw BrokenPromise(promise: "an accepted key signs and has a public half")
        }
        try promise("its signature verifies", (try? key.verify(signature, of: message)) == true)
        try promise("its public half verifies it, too", (try? publicKey.verify(signature, of: message)) == true)
        try promise("no other message verifies", (try? publicKey.verify(signature, of: message + [0])) == false)
        try promise(
            "its fingerprint is its public key's", key.fingerprint == (try? SHA256.hash(publicKey.der)).map(hexadecimal)
        )
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String { Hexadecimal.text(of: bytes) }
}
