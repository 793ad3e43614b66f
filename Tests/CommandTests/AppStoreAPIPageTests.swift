import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import OfferConfiguration
import OfferCrypto
import TestSupport
import Testing

/// Runs the commands for the App Store Server API in docs/app-store.md against a stand-in for the App Store.
@Suite("docs/app-store.md: the App Store Server API", .serialized, .timeLimit(.minutes(5)))
struct AppStoreAPIPageTests {
    @Test("the keys are tried, a test notification arrives, and the commands print and store what the App Store says")
    func walkthrough() async throws {
        let walk = try await PageWalk("docs/app-store.md")
        let process = try await AppStoreProcess()
        let service = try process.start()
        var posting = Poster.Settings()
        posting.receiver = .url("http://127.0.0.1:\(service.port)/v1/app-store-notifications")
        for poster in process.standIn.posters { poster.set(posting) }
        let tried = try await onOwnThread { [exports = process.exports] in try walk.shell(exports + walk.block(9)) }
        #expect(tried.status == 0, "\(tried.standardError)")
        #expect(tried.standardOutput.contains("ok: the App Store accepts key TESTKEY123 for com.example.app\n"))
        #expect(tried.standardOutput.hasSuffix("ok: the App Store delivered the test notification\n"))

        let original = try #require(process.standIn.production.subscriptions.joined().first)
        let asked = try await onOwnThread { [exports = process.exports] in
            try walk.shell(exports + walk.block(10).replacing("2000000123456789", with: original))
        }
        #expect(asked.status == 0, "\(asked.standardError)")
        let lines = asked.standardOutput.split(separator: "\n").map(String.init)
        #expect(lines[0].hasPrefix("ok: ") && lines[0].contains(" notifications read, "))
        #expect(lines[1].hasPrefix("ok: "), "\(lines[1])")
        let statuses = lines.filter { $0.hasPrefix(#"{"originalTransactionId":"\#(original)","status":"#) }
        #expect(statuses.count == 1 && statuses[0].contains(#""signedTransactionInfo":{"#))
        #expect(lines.last?.contains(#""transactionId":""#) == true, "\(lines.last ?? "")")
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }

    @Test("doctor --online names the likely cause of a 401", arguments: KeyMistake.allCases)
    func causes(mistake: KeyMistake) async throws {
        let process = try await AppStoreProcess()
        var settings: [String: String] = [:]
        let own = try SigningKey(text: process.keys.read(RunningService.keyFile))
        switch mistake {
        case .anotherIssuer: settings["SUBSCRIPTION_OFFERS_ISSUER_ID"] = "69a6de70-03db-47e3-e053-5b8c7c11a4d1"
        case .revokedKey:
            let other = try PrivateKeyPEM.generate()
            try process.keys.write(other, to: "SubscriptionKey_SECONDKEY2.p8")
            process.standIn.tokens.replace(keys: ["SECONDKEY2": try SigningKey(text: other)])
        case .unusedKey:
            try process.keys.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_SECONDKEY2.p8")
            process.standIn.tokens.replace(keys: [RunningService.keyID: own])
        case .neverReleased: process.standIn.faults.add(.status(401), count: 2)
        case .wrongClock: process.standIn.faults.add(.clock(90), count: 4)
        }
        let outcome = try process.run(["doctor", "--online"], settings)
        let output = outcome.standardOutput + outcome.standardError
        #expect(output.contains(mistake.message), "\(output)")
        #expect((outcome.status == 0) == [.unusedKey, .neverReleased].contains(mistake), "\(output)")
        await process.standIn.stop()
    }
}

/// Why the App Store refuses a token.
enum KeyMistake: CaseIterable {
    case anotherIssuer, revokedKey, unusedKey, neverReleased, wrongClock

    fileprivate var message: String {
        switch self {
        case .anotherIssuer: "compare the issuer ID with the one above the In-App Purchase keys"
        case .revokedKey: "another key is accepted, so this one was revoked"
        case .unusedKey: "warning: the App Store does not accept key SECONDKEY2 for com.example.app"
        case .neverReleased: "an app that was never released does not exist in production"
        case .wrongClock: " s behind the App Store's"
        }
    }
}
