import OfferCore
import Testing

@testable import AppStoreData
@testable import AppStoreTestSupport

@Suite("Payload numbers")
struct NumberTests {
    @Test(
        "64-bit numbers are exact",
        arguments: [Int64.max, .min, 9_007_199_254_740_993, -9_007_199_254_740_993, 0, -62_135_769_600_000])
    func exact(number: Int64) throws {
        let transaction = try SignedTransaction(
            json: SamplePayload.transaction.with("price", "\(number)").with("expiresDate", "\(number)").json)
        #expect(transaction.price == number)
        #expect(transaction.expiresDate?.milliseconds == number)
        let app = try AppTransaction(json: SamplePayload.appTransaction.with("appAppleId", "\(number)").json)
        #expect(app.appAppleID == number)
    }

    @Test(
        "a fraction of a millisecond in data of Xcode is rounded down",
        arguments: [
            ("1.9", 1), ("1.0", 1), ("0.5", 0), ("-0.5", -1), ("-1.0", -1), ("-1.000001", -2),
            ("1697679936049.7297", 1_697_679_936_049), ("-62135769600000", -62_135_769_600_000), ("7", 7),
        ] as [(String, Int64)])
    func fractions(text: String, milliseconds: Int64) throws {
        let sample = SamplePayload.transaction.with("environment", #""Xcode""#).with("expiresDate", text)
        #expect(try SignedTransaction(json: sample.json).expiresDate?.milliseconds == milliseconds)
    }

    @Test(
        "a time in data of Xcode has no exponent and fits into 64 bits",
        arguments: ["1.5e3", "1e3", "1.5E0", "9223372036854775808.5", "-9223372036854775808.5", "\"1.5\"", "true"])
    func otherTimes(text: String) {
        let sample = SamplePayload.transaction.with("environment", #""Xcode""#).with("expiresDate", text)
        let error = #expect(throws: PayloadError.self) { try SignedTransaction(json: sample.json) }
        #expect(error?.member == "expiresDate")
    }

    @Test(
        "a fraction of a millisecond is refused outside Xcode",
        arguments: ["Production", "Sandbox", "LocalTesting", "xcode", nil] as [String?])
    func noFractions(environment: String?) {
        func sample(_ sample: SamplePayload, _ name: String, _ date: String) -> [UInt8] {
            let sample = sample.with(date, "1697679936049.5")
            return (environment.map { sample.with(name, "\"\($0)\"") } ?? sample.without(name)).json
        }
        let expected = { member in
            PayloadError(
                .wrongType(expected: "a whole number of at most 64 bits", found: "another number"), member: member)
        }
        #expect(throws: expected("signedDate")) {
            try SignedTransaction(json: sample(.transaction, "environment", "signedDate"))
        }
        #expect(throws: expected("renewalDate")) {
            try RenewalInfo(json: sample(.renewalInfo, "environment", "renewalDate"))
        }
        #expect(throws: expected("signedDate")) {
            let data = SamplePayload.data.with("environment", #""Xcode""#)
            return try AppStoreNotification(
                json: SamplePayload.notification("TEST", data).with("signedDate", "1697679936049.5").json)
        }
        guard environment != nil else { return }
        #expect(throws: expected("receiptCreationDate")) {
            try AppTransaction(json: sample(.appTransaction, "receiptType", "receiptCreationDate"))
        }
    }

    @Test("a fraction is accepted for times only, even in data of Xcode")
    func onlyTimes() {
        let error = #expect(throws: PayloadError.self) {
            try SignedTransaction(
                json: SamplePayload.transaction.with("environment", #""Xcode""#).with("price", "1.5").json)
        }
        #expect(error?.member == "price")
    }
}
