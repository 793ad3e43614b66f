import Foundation
import OfferCore
import OfferCrypto
import OfferHTTP
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// Proofs that every route refuses, with the answer.
struct RefusedProof {
    /// The member `proofs`, as JSON.
    let proofs: String
    let status: Int
    let code: String
    /// nil if any will do.
    var field: String?
    var reason: String?
    /// A part of the answer.
    var advice = ""

    static let transaction = SamplePayload.transaction.with("environment", #""Sandbox""#)
    static let renewalInfo = SamplePayload.renewalInfo.with("environment", #""Sandbox""#)
    static let appTransaction = SamplePayload.appTransaction.with("receiptType", #""Sandbox""#)

    /// All of them.
    static func all() throws -> [RefusedProof] {
        try misplaced() + otherKinds() + bad() + receipts() + renewalInfosAlone() + tooMany() + wrongForm()
    }

    func expectRefusal(_ answer: HTTPResponse, at location: SourceLocation = #_sourceLocation) {
        let shown = Comment(rawValue: "\(proofs.prefix(120)) \(answer.text)")
        #expect(answer.status == status, shown, sourceLocation: location)
        #expect(answer.json["code"] as? String == code, shown, sourceLocation: location)
        if let field { #expect(answer.json["field"] as? String == field, shown, sourceLocation: location) }
        if let reason { #expect(answer.json["reason"] as? String == reason, shown, sourceLocation: location) }
        #expect(advice.isEmpty || answer.text.contains(advice), shown, sourceLocation: location)
        #expect(!answer.text.contains("signature\""), shown, sourceLocation: location)
    }

    private static func jws(_ payload: SamplePayload) throws -> String {
        "\"\(try TestChain.standard.get().jws(payload))\""
    }

    private static func proof(
        _ proofs: String, _ field: String, _ reason: String
    ) -> RefusedProof {
        RefusedProof(proofs: proofs, status: 422, code: "proof_refused", field: field, reason: reason)
    }

    /// Data in the wrong member or encoding.
    static func misplaced() throws -> [RefusedProof] {
        func base64(_ bytes: [UInt8]) -> String { String(decoding: Base64.text(of: bytes), as: UTF8.self) }
        let receipt = try ReceiptSigner.standard.get().message(TestReceipt(purchases: [.init()])).encoded
        let once = base64(receipt)
        let twice = base64(Array(once.utf8))
        let url = base64(receipt + [0xFB, 0xEF, 0xBE]).replacing("+", with: "-").replacing("/", with: "_").replacing(
            "=", with: "")
        let transaction = try jws(Self.transaction)
        let encodedJWS = base64(Array(transaction.dropFirst().dropLast().utf8))
        let verifyReceipt = #"{\"status\":0,\"latest_receipt\":\"MII=\"}"#
        let cases: [(member: String, value: String, advice: String)] = [
            ("appReceipt", transaction, "Send it in proofs.signedTransactions."),
            ("appReceipt", try jws(renewalInfo), "Send it in proofs.signedRenewalInfos."),
            ("appReceipt", try jws(appTransaction), "Send it as proofs.signedAppTransaction."),
            ("appReceipt", try jws(.notification("TEST", .data)), "the signedPayload of a notification"),
            ("appReceipt", "\"\(encodedJWS)\"", "a JWS in base64"),
            ("appReceipt", "\"\(twice)\"", "in base64 twice"),
            ("appReceipt", "\"\(url)\"", "base64url"),
            ("appReceipt", "\"\(once)\\n\"", "line breaks"),
            ("appReceipt", "\"\(verifyReceipt)\"", "JSON response of verifyReceipt"),
            ("signedTransactions", "\"\(verifyReceipt)\"", "JSON response of verifyReceipt"),
            ("signedTransactions", "\"\(once)\"", "Send it as proofs.appReceipt."),
            ("signedTransactions", "\"\(encodedJWS)\"", "Send the JWS itself."),
            ("signedRenewalInfos", "\"\(twice)\"", "Send it as proofs.appReceipt."),
            ("signedAppTransaction", "\"\(once)\"", "Send it as proofs.appReceipt."),
        ]
        return cases.map { member, value, advice in
            let isList = member.hasSuffix("s")
            return RefusedProof(
                proofs: "{\"\(member)\":\(isList ? "[\(value)]" : value)}", status: 400, code: "invalid_field",
                field: "proofs.\(member)\(isList ? "[0]" : "")", advice: advice)
        }
    }

    /// JWSs of another kind than their member says.
    static func otherKinds() throws -> [RefusedProof] {
        let (renewalInfo, transaction) = (try jws(renewalInfo), try jws(transaction))
        let appTransaction = try jws(appTransaction)
        let notification = try jws(.notification("TEST", .data))
        return [
            ("{\"signedTransactions\":[\(renewalInfo)]}", "Send it in proofs.signedRenewalInfos."),
            ("{\"signedTransactions\":[\(appTransaction)]}", "Send it as proofs.signedAppTransaction."),
            ("{\"signedTransactions\":[\(notification)]}", "Send its data.signedTransactionInfo"),
            ("{\"signedRenewalInfos\":[\(transaction)]}", "Send it in proofs.signedTransactions."),
            ("{\"signedAppTransaction\":\(notification)}", "Send its data.signedTransactionInfo"),
        ].map { RefusedProof(proofs: $0, status: 422, code: "proof_refused", advice: $1) }
    }

    /// Proofs that fail a check, in a service for the sandbox.
    static func bad() throws -> [RefusedProof] {
        let good = try jws(transaction)
        let forged = good.dropLast(10) + "AAAAAAAAA\""
        let other = try jws(transaction.with("bundleId", #""com.example.other""#))
        let download = try jws(appTransaction)
        let otherApp = try jws(appTransaction.with("bundleId", #""com.example.other""#))
        return [
            proof(
                #"{"signedTransactions":[\#(good),\#(forged)]}"#, "proofs.signedTransactions[1]", "signature_invalid"),
            proof(#"{"signedTransactions":["a.b"]}"#, "proofs.signedTransactions[0]", "jws_not_three_parts"),
            proof(
                #"{"signedTransactions":[\#(try jws(renewalInfo))]}"#, "proofs.signedTransactions[0]",
                "payload_of_another_kind"),
            proof(#"{"signedRenewalInfos":[\#(good)]}"#, "proofs.signedRenewalInfos[0]", "payload_of_another_kind"),
            proof(#"{"signedTransactions":[\#(other)]}"#, "proofs.signedTransactions[0]", "another_bundle_id"),
            proof(
                #"{"signedTransactions":[\#(try jws(.transaction))]}"#, "proofs.signedTransactions[0]",
                "environment_not_accepted"),
            proof(#"{"signedAppTransaction":\#(good)}"#, "proofs.signedAppTransaction", "payload_of_another_kind"),
            proof(
                #"{"signedAppTransaction":\#(download.dropLast(10) + "AAAAAAAAA\"")}"#, "proofs.signedAppTransaction",
                "signature_invalid"),
            proof(#"{"signedAppTransaction":\#(otherApp)}"#, "proofs.signedAppTransaction", "another_bundle_id"),
            proof(#"{"appReceipt":"MAA="}"#, "proofs.appReceipt", "receipt_not_signed_data"),
        ]
    }

    /// Receipts of another app and of another device.
    static func receipts() throws -> [RefusedProof] {
        var other = TestReceipt()
        other.put(.text(2, "com.example.other"))
        let device = #","deviceIdentifier":"00112233445566778899aabbccddeeff""#
        return [
            proof(
                #"{"appReceipt":"\#(try ReceiptSigner.base64(other))"}"#, "proofs.appReceipt", "another_bundle_id"),
            proof(
                #"{"appReceipt":"\#(try ReceiptSigner.base64(TestReceipt()))"\#(device)}"#, "proofs.appReceipt",
                "receipt_another_device"),
        ]
    }

    /// Renewal infos without a transaction of their subscription.
    static func renewalInfosAlone() throws -> [RefusedProof] {
        let info = try jws(renewalInfo)
        return ["", try jws(transaction.with("originalTransactionId", #""1""#))].map { transactions in
            proof(
                #"{"signedTransactions":[\#(transactions)],"signedRenewalInfos":[\#(info)]}"#,
                "proofs.signedRenewalInfos[0]", "transaction_missing")
        }
    }

    /// The member `proofs` with a receipt of purchases.
    static func receipt(purchases count: Int) throws -> String {
        let purchases = (0..<count).map { number in
            var purchase = TestReceipt.Purchase(transactionID: "\(1000 + number)")
            purchase.put(.text(1705, "\(1000 + number)"))
            return purchase
        }
        return #"{"appReceipt":"\#(try ReceiptSigner.base64(TestReceipt(purchases: purchases)))"}"#
    }

    /// More purchases than a customer has.
    static func tooMany() throws -> [RefusedProof] {
        [proof(try receipt(purchases: 251), "proofs", "too_many_purchases")]
    }

    /// Members of the wrong form, among them a small body with many values, each of which takes far more memory than its
    /// text.
    static func wrongForm() -> [RefusedProof] {
        let rows = Array(repeating: "[\(Array(repeating: "{}", count: 64).joined(separator: ","))]", count: 64)
        let many = RefusedProof(
            proofs: #"{"signedTransactions":["a"],"more":[\#(rows.joined(separator: ","))]}"#, status: 400,
            code: "unreadable_json", advice: "too many members or elements")
        return [
            ("[]", "wrong_type", "proofs"),
            ("{}", "invalid_field", "proofs"),
            (#"{"signedTransactions":[]}"#, "invalid_field", "proofs"),
            (#"{"signedTransactions":"a.b.c"}"#, "wrong_type", "proofs.signedTransactions"),
            (#"{"signedTransactions":["a.b.c",1]}"#, "wrong_type", "proofs.signedTransactions[1]"),
            (#"{"signedTransactions":["a.b.c"],"more":1}"#, "unknown_field", "more"),
            (#"{"appReceipt":"AA"}"#, "invalid_field", "proofs.appReceipt"),
            (#"{"appReceipt":"AAAA","deviceIdentifier":"x"}"#, "invalid_field", "proofs.deviceIdentifier"),
            (
                #"{"signedTransactions":["a.b.c"],"deviceIdentifier":"001122334455"}"#, "missing_field",
                "proofs.appReceipt"
            ),
            (
                #"{"signedTransactions":[\#(Array(repeating: "\"a\"", count: 51).joined(separator: ","))]}"#,
                "invalid_field", "proofs"
            ),
        ].map { RefusedProof(proofs: $0, status: 400, code: $1, field: $2) } + [many]
    }
}
