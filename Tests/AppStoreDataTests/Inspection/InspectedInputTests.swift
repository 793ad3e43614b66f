import AppStoreData
import Foundation
import OfferCore
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

extension ReceiptTests {
    @Suite("Forms of inspected data", .serialized)
    struct InspectedInputTests {
        private static func inspect(_ input: [UInt8]) throws -> Inspected { try Inspected.jws(input) }

        @Test("a JWS may have white space around it, or be the body that the App Store posts")
        func jws() throws {
            let text = String(decoding: try SamplePayload.notification("TEST", .summary).signed(), as: UTF8.self)
            for input in [
                text, text + "\n", "\r\n \t\(text)\r\n", #"{"signedPayload":"\#(text)"}"#,
                "\n{ \"signedPayload\" : \"\(text)\" }\n",
            ] {
                let inspected = try Self.inspect(Array(input.utf8))
                #expect(inspected.isVerified == true && inspected.kind == "notification")
            }
        }

        @Test("a JWS with a line break inside or quotes around it is refused as a JWS")
        func damagedJWS() throws {
            let text = String(decoding: try SamplePayload.transaction.signed(), as: UTF8.self)
            for input in [text.prefix(100) + "\n" + text.dropFirst(100), "\"\(text)\""] {
                #expect(try Self.inspect(Array(input.utf8)).reason == "jws_not_base64url")
            }
        }

        @Test("a receipt may be DER, BER, or base64 with line breaks")
        func receipts() throws {
            let signer = try ReceiptSigner.standard.get()
            var message = try signer.message(TestReceipt())
            let der = message.encoded
            message.encoding = .ber(segment: 64)
            let lines = Data(der).base64EncodedString(options: [
                .lineLength64Characters, .endLineWithCarriageReturn, .endLineWithLineFeed,
            ])
            let base64 = Data(message.encoded).base64EncodedString()
            for input in [der, message.encoded, Array(lines.utf8), Array((base64 + "\n").utf8)] {
                let inspected = try Inspected(input, trusting: signer.chain.root)
                #expect(inspected.isVerified == true && inspected.kind == "receipt")
            }
        }

        @Test("a legacy receipt names its transaction and is never verified", arguments: [false, true])
        func legacy(isBase64: Bool) throws {
            let info = Data(#"{ "transaction-id" = "33993399"; }"#.utf8).base64EncodedString()
            let text = Array("{\n\t\"signature\" = \"AbCd\";\n\t\"purchase-info\" = \"\(info)\";\n}".utf8)
            let inspected = try Self.inspect(isBase64 ? Base64.text(of: text) : text)
            #expect(inspected.isVerified == false && inspected.kind == "legacy-receipt")
            #expect(inspected.reason == "legacy_receipt_not_verified")
            #expect(inspected.payload as? [String: String] == ["transaction_id": "33993399"])
            let damaged = try Self.inspect(Array(#"{ "purchase-info" = "?"; }"#.utf8))
            #expect(damaged.kind == "legacy-receipt" && damaged.reason == "legacy_receipt_purchase_info_not_base64")
        }

        @Test(
            "anything else is not recognised",
            arguments: [
                "", " \n", "hello", "{}", "[]", #"{"signedPayload":1}"#, #"{"a":"b"}"#, "{ \"a\" = \"b\"; }",
                "aGVsbG8=",
                "two words. and a dot", "0", "\u{0}\u{1}", "{\u{e9}",
            ])
        func others(text: String) throws {
            let inspected = try Self.inspect(Array(text.utf8))
            #expect(inspected.isVerified == false && inspected.reason == "not_recognised" && inspected.kind == nil)
            #expect(inspected.sentence?.contains("a compact JWS") == true)
            #expect(inspected.certificates.isEmpty && inspected.members["payload"] is NSNull)
        }

        @Test("data cut off or damaged anywhere is refused", arguments: 0..<64)
        func damage(index: Int) throws {
            let signer = try ReceiptSigner.standard.get()
            let receipt = try signer.message(TestReceipt()).encoded
            let jws = try SamplePayload.transaction.signed()
            for (whole, root) in [(receipt, signer.chain.root), (jws, try TestChain.standard.get().root)] {
                let place = whole.count * index / 64
                #expect(try Inspected(Array(whole[..<place]), trusting: root).isVerified == false)
            }
            #expect(
                try Inspected(jws + [UInt8(ascii: "A")], trusting: TestChain.standard.get().root).isVerified == false)
        }
    }
}

@Suite("Times of inspections")
struct InspectionTimeTests {
    @Test(
        "a time is given in RFC 3339 or in milliseconds",
        arguments: ["2025-06-15T15:06:40Z", "2025-06-15T17:06:40+02:00", "2025-06-15T15:06:40.000Z", "1750000000000"])
    func times(text: String) {
        #expect(Timestamp(inspectionTime: text) == Timestamp(milliseconds: TestTime.now * 1000))
    }

    @Test(
        "other texts are refused",
        arguments: ["", "now", "2025-06-15", "2025-06-31T00:00:00Z", "1.5", "99999999999999999", "-99999999999999"])
    func others(text: String) { #expect(Timestamp(inspectionTime: text) == nil) }
}
