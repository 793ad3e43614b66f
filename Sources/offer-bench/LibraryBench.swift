import OfferCrypto
import OfferSigning

/// Signs offers with the library for servers, as its users do.
struct LibraryBench {
    private let signer: PromotionalOfferSigner
    private let account: Account

    init() throws {
        let pem = String(decoding: try PrivateKeyPEM.generate(), as: UTF8.self)
        signer = try PromotionalOfferSigner(
            key: OfferSigning.SigningKey(keyID: "BENCHKEY01", pem: pem), bundleID: "com.example.app")
        account = try Account.applicationUsername("8d7f9a52c4e1")
    }

    func sign() throws {
        _ = try signer.sign(
            productID: "com.example.app.pro.monthly", offerID: "retention_50off_3m", for: account)
    }
}
