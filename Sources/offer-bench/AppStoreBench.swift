import AppStoreData
import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility

/// Measures the reading of App Store data, with the samples in Tests/Vectors/app-store.
struct AppStoreBench {
    private let roots: TrustedRoots
    private let transaction: [UInt8]
    private let notification: [UInt8]
    private let receipt: [UInt8]
    private let apps: ExpectedApps

    /// All samples were signed in 2025.
    private static let date = EffectiveDate.ofSigning(otherwise: 1_750_000_000)
    private static let time = Timestamp(milliseconds: 1_750_000_000_000)

    /// A sample is not what it should be.
    private struct WrongSample: Error {}

    /// - Parameter folder: the path of Tests/Vectors/app-store.
    init(folder: String) throws {
        let read = { (name: String) in
            [UInt8](try Data(contentsOf: URL(filePath: folder).appending(path: name)))
        }
        roots = TrustedRoots(try ["root.der", "receipt-root.der"].map { try X509Certificate(der: read($0)) })
        transaction = try read("transaction.jws")
        notification = try read("notification.jws")
        receipt = try read("receipt-187.der")
        let app = try ExpectedApp(bundleID: BundleID(utf8: Array("com.example.app".utf8)), appAppleID: 1_234_567_890)
        apps = try ExpectedApps([app])
    }

    /// Each measurement's name and work.
    func measurements() throws -> [(name: String, work: () throws -> Void)] {
        let known = AppStoreVerifier(roots: roots)
        let json = try known.verify(transaction, as: SignedTransaction.self, at: Self.date).object.json
        try known.knownChains.precompute()
        return [
            ("jws-known", { _ = try known.verify(transaction, as: SignedTransaction.self, at: Self.date) }),
            (
                "jws-unknown",
                {
                    let verifier = AppStoreVerifier(roots: roots)
                    _ = try verifier.verify(transaction, as: SignedTransaction.self, at: Self.date)
                }
            ),
            ("transaction", { _ = try SignedTransaction(json: json) }),
            ("notification", { _ = try known.receiveNotification(notification, for: apps, at: Self.date) }),
            (
                "receipt",
                {
                    let verified = try known.verifyReceipt(receipt, at: Self.time)
                    guard verified.transactions.count == 187 else { throw WrongSample() }
                }
            ),
        ]
    }
}
