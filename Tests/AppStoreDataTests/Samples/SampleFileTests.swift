import Foundation
import OfferEligibility
import Testing

@testable import AppStoreTestSupport

/// Signed App Store data for the fuzzer and the benchmark.
@Suite("Sample files")
struct SampleFileTests {
    private static let path = ProcessInfo.processInfo.environment["OFFER_SAMPLES"]

    @Test(
        "samples signed by new test keys are written where scripts/app-store-samples asks for them",
        .enabled(if: path != nil))
    func write() throws {
        let folder = URL(filePath: try #require(Self.path))
        try FuzzSamples().write(to: folder.appending(path: "Tests/Fuzz"))
        try Self.writeVectors(to: folder.appending(path: "Tests/Vectors/app-store"))
    }

    /// Data as large as Apple's: the notification has about 17 kB, the receipt about 70 kB.
    private static func writeVectors(to folder: URL) throws {
        let jws = try SampleChain(padding: 200)
        let receipts = try ReceiptSigner.standard.get()
        let purchases = (0..<187).map { TestReceipt.Purchase(transactionID: "\(2_000_000_000_000_000 + $0)") }
        let files: [String: [UInt8]] = [
            "root.der": jws.chain.root, "receipt-root.der": receipts.chain.root,
            "transaction.jws": try jws.jws(.transaction), "notification.jws": try jws.notification(),
            "receipt-187.der": try receipts.message(TestReceipt(purchases: purchases)).encoded,
        ]
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, bytes) in files { try Data(bytes).write(to: folder.appending(path: name)) }
    }
}
