import AppStoreData
import Foundation
import OfferCrypto
import Testing

@testable import AppStoreTestSupport

/// One line of the file that scripts/app-store-peer gives to Apple's library.
private struct ForgeryLine: Encodable {
    let name: String
    /// Nil if the JWS is good.
    let code: String?
    /// In base64, because not every forgery is text.
    let jws: String
    /// In base64 DER.
    let roots: [String]
    /// In seconds since 1970.
    let now: Int64
    /// Whether the certificates must be valid now, not when the data was signed.
    let isNowEffective: Bool

    init(_ name: String, _ code: VerificationFailure.Code?, _ attempt: Attempt) {
        self.name = name
        self.code = code?.rawValue
        jws = Data(attempt.jws).base64EncodedString()
        roots = attempt.roots.map { Data($0).base64EncodedString() }
        switch attempt.date {
        case .at(let seconds): (now, isNowEffective) = (seconds, true)
        case .ofSigning(let otherwise): (now, isNowEffective) = (otherwise, false)
        }
    }
}

@Suite("File of forgeries")
struct ForgeryFileTests {
    private static let path = ProcessInfo.processInfo.environment["OFFER_FORGERIES"]

    @Test(
        "all forgeries and good data are written where scripts/app-store-peer asks for them", .enabled(if: path != nil))
    func write() throws {
        var lines = try Forgery.all.map { ForgeryLine($0.testDescription, $0.code, try $0.attempt) }
        for variant in JWSVerifierTests.variants {
            lines.append(ForgeryLine(variant.testDescription, nil, try Attempt(of: variant.make())))
        }
        lines.append(ForgeryLine("the usual chain", nil, try Attempt(of: TestChain.standard.get())))
        let text = try lines.map { try JSONEncoder().encode($0) + [0x0A] }.reduce(Data(), +)
        try text.write(to: URL(filePath: try #require(Self.path)))
    }
}
