import AppStoreData
import OfferCore
import OfferCrypto

/// The parsed certificates and keys of ``AppStoreSamples``.
enum AppStoreKeys {
    /// The leaf, the intermediate and the root of every genuine JWS.
    static let jws = AppStoreSamples.jws.map(certificate)
    static let xcode = certificate(AppStoreSamples.xcode)
    /// The leaf, the intermediate and the root of genuine receipts, and Xcode's certificate.
    static let receipts = AppStoreSamples.receipts.map(certificate)

    static let leafKey = key(AppStoreSamples.keys[0])
    static let intermediateKey = key(AppStoreSamples.keys[1])

    static let roots = TrustedRoots([jws[2], xcode] + receipts[2...])

    /// When all certificates are valid, in seconds since 1970.
    static let now: Int64 = 1_750_000_000

    static func isGenuine(signingInput: [UInt8]) -> Bool {
        AppStoreSamples.signingInputs.contains(digest(signingInput))
    }

    static func isGenuine(content: [UInt8]) -> Bool { AppStoreSamples.contents.contains(digest(content)) }

    private static func digest(_ bytes: [UInt8]) -> String {
        guard let hash = try? SHA256.hash(bytes) else { fatalError("cannot hash") }
        return Hexadecimal.text(of: hash)
    }

    private static func certificate(_ pem: String) -> X509Certificate {
        guard let all = try? X509Certificate.readAll(Array(pem.utf8)), all.count == 1 else {
            fatalError("cannot read a certificate of the samples")
        }
        return all[0]
    }

    private static func key(_ pem: String) -> SigningKey {
        guard let key = try? SigningKey(text: Array(pem.utf8)) else { fatalError("cannot read a key of the samples") }
        return key
    }
}
