import AppStoreData
import TestSupport

@testable import AppStoreTestSupport

extension ReceiptForgery {
    /// Content that is no set of attributes.
    static let contents: [ReceiptForgery] = [
        .content("empty content", .notSet(.wrongTag)) { [] },
        .content("a sequence in place of a set", .notSet(.wrongTag)) { [0x30] + TestReceipt().payload.dropFirst() },
        .content("a byte after the set", .notSet(.trailingBytes)) { TestReceipt().payload + [0] },
        .content("a set without its last byte", .notSet(.truncated)) { TestReceipt().payload.dropLast() },
        .content("a set cut off in its length", .notSet(.truncated)) { [0x31, 0x82, 0x01] },
        .content("a set of indefinite length", .notSet(.badLength)) {
            BER.indefinite(0x31, TestReceipt().attributes.flatMap(\.der))
        },
        .content("a set with a length of five bytes", .notSet(.badLength)) { [0x31, 0x85, 1, 0, 0, 0, 0, 0] },
        .content("a set with a length of eight bytes and the top bit set", .notSet(.badLength)) {
            [0x31, 0x88] + [UInt8](repeating: 0xFF, count: 8)
        },
        .content("a set with a length in more bytes than needed", .notSet(.badLength)) {
            [0x31, 0x81, 0x02, 0x30, 0x00]
        },
        .content("a set with a leading zero in its length", .notSet(.badLength)) {
            [0x31, 0x82, 0x00, 0x80] + [UInt8](repeating: 0, count: 128)
        },
        .content("an empty set", .missing, 12) { DER.set([]) },
        .content("an attribute that is a set", .notAttribute(.wrongTag)) { DER.set(DER.set([])) },
        .content("an attribute longer than the set", .notAttribute(.truncated)) {
            DER.set([0x30, 0x05, 0x02, 0x01, 0x00])
        },
        .content("an empty attribute", .notAttribute(.wrongTag)) { DER.set(DER.sequence()) },
        .content("an attribute without a value", .notAttribute(.wrongTag)) {
            DER.set(DER.sequence(DER.integer(99), DER.integer(1)))
        },
        .content("an attribute without a version", .notAttribute(.wrongTag)) {
            DER.set(DER.sequence(DER.integer(99), DER.octetString([])))
        },
        .content("an attribute with a fourth part", .notAttribute(.trailingBytes)) {
            DER.set(DER.sequence(DER.integer(99), DER.integer(1), DER.octetString([]), DER.null))
        },
        .content("an attribute whose value is a UTF8String", .notAttribute(.wrongTag)) {
            DER.set(DER.sequence(DER.integer(99), DER.integer(1), DER.utf8String("text")))
        },
        .content("an attribute whose value is in segments", .notAttribute(.wrongTag)) {
            DER.set(DER.sequence(DER.integer(99), DER.integer(1), DER.value(0x24, DER.octetString([]))))
        },
        .content("a negative attribute number", .notAttribute(.notNumber)) {
            DER.set(DER.sequence(DER.value(0x02, [0xFF]), DER.integer(1), DER.octetString([])))
        },
        .content("an attribute number of 65 bits", .notAttribute(.notNumber)) {
            let number = DER.value(0x02, [1] + [UInt8](repeating: 0, count: 8))
            return DER.set(DER.sequence(number, DER.integer(1), DER.octetString([])))
        },
        .content("more purchases than the maximum", .tooManyPurchases) {
            let purchase = DER.sequence(DER.integer(17), DER.integer(1), DER.octetString(DER.set([])))
            return DER.set((0...AppReceipt.maximumPurchases).flatMap { _ in purchase })
        },
    ]

    /// Attributes with values of the wrong kind.
    static let receipts: [ReceiptForgery] =
        [0, 2, 12].map { type in
            .receipt("no attribute \(type)", .missing, UInt64(type)) { $0.remove(type) }
        }
        + [0, 1, 2, 3, 4, 5, 8, 10, 12, 18, 19].map { type in
            .receipt("attribute \(type) twice", .repeated, UInt64(type)) { receipt in
                receipt.attributes += receipt.attributes.filter { $0.type == type }
            }
        }
        + [1, 3, 8, 10, 18, 19, 21].map { type in
            .receipt("attribute \(type) without an element", .wrongValue(.wrongTag), UInt64(type)) {
                $0.put(.init(type: type, value: []))
            }
        } + [
            .receipt("an empty type", .missing, 0) { $0.put(.text(0, "")) },
            .receipt("an empty bundle ID", .missing, 2) { $0.put(.text(2, "")) },
            .receipt("an empty creation date", .missing, 12) { $0.put(.date(12, "")) },
            .receipt("a bundle ID in another type of string", .wrongValue(.wrongTag), 2) { $0.put(.date(2, "com.a")) },
            .receipt("a bundle ID of 156 bytes", .wrongText, 2) {
                $0.put(.text(2, String(repeating: "a", count: 156)))
            },
            .receipt("a bundle ID with a line break", .wrongText, 2) { $0.put(.text(2, "com.\nexample")) },
            .receipt("a bundle ID that is not UTF-8", .wrongText, 2) {
                $0.put(.init(type: 2, value: DER.value(0x0C, [0xC3, 0x28])))
            },
            .receipt("a byte after the bundle ID", .wrongValue(.trailingBytes), 2) {
                $0.put(.init(type: 2, value: DER.utf8String("com.example.app") + [0]))
            },
            .receipt("a bundle ID longer than its attribute", .wrongValue(.truncated), 2) {
                $0.put(.init(type: 2, value: DER.utf8String("com.example.app").dropLast()))
            },
            .receipt("a version of 256 bytes", .wrongText, 3) { $0.put(.text(3, String(repeating: "1", count: 256))) },
            .receipt("a type of 65 bytes", .wrongText, 0) { $0.put(.text(0, String(repeating: "P", count: 65))) },
            .receipt("a creation date in another type of string", .wrongValue(.wrongTag), 12) {
                $0.put(.text(12, TestReceipt.creationDate))
            },
            .receipt("a creation date without a time", .wrongDate, 12) { $0.put(.date(12, "2025-06-15")) },
            .receipt("an expiration date that is no date", .wrongDate, 21) { $0.put(.date(21, "never")) },
            .receipt("an app ID in text", .wrongValue(.wrongTag), 1) { $0.put(.text(1, "0")) },
            .receipt("a negative app ID", .wrongValue(.notNumber), 1) {
                $0.put(.init(type: 1, value: DER.value(0x02, [0x80])))
            },
            .receipt("an app ID of no bytes", .wrongValue(.notNumber), 1) {
                $0.put(.init(type: 1, value: DER.value(0x02, [])))
            },
            .receipt("an app ID of 65 bits", .wrongValue(.notNumber), 1) {
                $0.put(.init(type: 1, value: DER.value(0x02, [1] + [UInt8](repeating: 0, count: 8))))
            },
            .receipt("a byte after the app ID", .wrongValue(.trailingBytes), 1) {
                $0.put(.init(type: 1, value: DER.integer(0) + [0]))
            },
            .receipt("a device hash of 19 bytes", .wrongSize, 5) {
                $0.put(.init(type: 5, value: [UInt8](repeating: 0, count: 19)))
            },
        ]

    /// Purchases with values of the wrong kind.
    static let purchases: [ReceiptForgery] =
        [1702, 1703, 1704].map { type in
            .purchase("a purchase without attribute \(type)", .missing, UInt64(type)) { $0.remove(type) }
        }
        + [1701, 1702, 1703, 1704, 1705, 1706, 1707, 1708, 1711, 1712, 1713, 1719].map { type in
            .purchase("a purchase with attribute \(type) twice", .repeated, UInt64(type)) { purchase in
                purchase.attributes += purchase.attributes.filter { $0.type == type }
            }
        }
        + [1701, 1702, 1703, 1704, 1705, 1706, 1707, 1708, 1711, 1712, 1713, 1719, 1721].map { type in
            .purchase("a purchase with attribute \(type) of another type", .wrongValue(.wrongTag), UInt64(type)) {
                $0.put(.init(type: type, value: DER.null))
            }
        } + [
            .purchase("an introductory price flag of 2", .wrongFlag, 1719) { $0.put(.number(1719, 2)) },
            .purchase("a trial flag of 2", .wrongFlag, 1713) { $0.put(.number(1713, 2)) },
            .purchase("an empty transaction ID", .missing, 1703) { $0.put(.text(1703, "")) },
            .purchase("a transaction ID of 65 bytes", .wrongText, 1703) {
                $0.put(.text(1703, String(repeating: "1", count: 65)))
            },
            .purchase("a purchase date that is empty", .missing, 1704) { $0.put(.date(1704, "")) },
            .purchase("a cancellation date that is no date", .wrongDate, 1712) { $0.put(.date(1712, "0")) },
            ReceiptForgery(
                "a purchase that is no set", .payload(ReceiptPayloadError(.notSet(.wrongTag), purchase: 0))
            ) { signer in
                var receipt = TestReceipt()
                receipt.put(.init(type: 17, value: DER.sequence()))
                return Attempt(receipt: try signer.message(receipt).encoded)
            },
            ReceiptForgery(
                "a byte after the set of a purchase",
                .payload(ReceiptPayloadError(.notSet(.trailingBytes), purchase: 0))
            ) { signer in
                var receipt = TestReceipt()
                receipt.put(.init(type: 17, value: TestReceipt.Purchase().set + [0]))
                return Attempt(receipt: try signer.message(receipt).encoded)
            },
        ]
}
