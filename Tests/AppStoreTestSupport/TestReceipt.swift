import OfferEligibility
import TestSupport

/// An app receipt to make. What a test does not change is valid.
struct TestReceipt {
    struct Attribute {
        let type: Int
        var version = 1
        let value: [UInt8]

        var der: [UInt8] { DER.sequence(DER.integer(type), DER.integer(version), DER.octetString(value)) }
    }

    var attributes: [Attribute] = [
        .text(0, "ProductionSandbox"), .number(1, 0), .text(2, bundleID), .text(3, "7"),
        Attribute(type: 4, version: 2, value: opaqueValue), Attribute(type: 5, value: deviceHash), .date(8, ""),
        .date(10, "4+"), .date(12, creationDate), .number(15, 0), .date(18, "2013-08-01T07:00:00Z"), .text(19, "1.0"),
        Attribute(type: 25, value: [0xFF, 0x00]),
    ]

    static let bundleID = "com.example.app"
    static let opaqueValue: [UInt8] = Array(1...16)
    static let device: [UInt8] = Array(0xA0...0xAF)
    /// SHA-1 of the three, computed by Python's hashlib: bytes(range(0xA0, 0xB0)) + bytes(range(1, 17)) +
    /// b"\x0c\x0fcom.example.app".
    static let deviceHash: [UInt8] = [
        0xC0, 0xEA, 0xBE, 0x4D, 0xA6, 0x08, 0x5E, 0x70, 0x60, 0xFF,
        0x3E, 0x00, 0xAC, 0xDE, 0x48, 0x91, 0x4F, 0x0D, 0x9A, 0xA3,
    ]
    /// At ``TestTime/now``.
    static let creationDate = "2025-06-15T15:06:40Z"

    init(purchases: [Purchase] = []) { attributes += purchases.map(\.attribute) }

    /// Xcode's: without the attributes that Xcode does not write.
    static func xcode(purchases: [Purchase] = []) -> TestReceipt {
        var receipt = TestReceipt(purchases: purchases)
        receipt.put(.text(0, "Xcode"))
        receipt.put(.date(21, "4001-01-01T00:00:00Z"))
        for type in [10, 15, 18, 19, 25] { receipt.remove(type) }
        return receipt
    }

    var payload: [UInt8] { DER.set(attributes.flatMap(\.der)) }

    mutating func remove(_ type: Int) { attributes.removeAll { $0.type == type } }

    /// Puts an attribute in place of those of its type.
    mutating func put(_ attribute: Attribute) {
        remove(attribute.type)
        attributes.append(attribute)
    }
}

extension TestReceipt.Attribute {
    static func text(_ type: Int, _ text: String) -> Self { Self(type: type, value: DER.utf8String(text)) }
    static func date(_ type: Int, _ text: String) -> Self { Self(type: type, value: DER.value(0x16, Array(text.utf8))) }
    static func number(_ type: Int, _ number: Int) -> Self { Self(type: type, value: DER.integer(number)) }
}

extension TestReceipt {
    /// A purchase to make: a subscription in its second period.
    struct Purchase {
        var attributes: [Attribute]

        init(transactionID: String = "2000000000000042") {
            attributes = [
                .number(1701, 1), .text(1702, "com.example.app.pro.monthly"), .text(1703, transactionID),
                .date(1704, "2025-06-01T10:00:00Z"), .text(1705, "2000000000000041"),
                .date(1706, "2025-05-01T10:00:00Z"), .number(1707, 3), .date(1708, "2025-07-01T10:00:00Z"),
                .date(1709, ""), .number(1710, 0), .number(1711, 2_000_000_000_000_099), .date(1712, ""),
                .number(1713, 0), .number(1719, 1), .number(1722, 0),
            ]
        }

        var set: [UInt8] { DER.set(attributes.flatMap(\.der)) }
        var attribute: Attribute { Attribute(type: 17, value: set) }

        mutating func remove(_ type: Int) { attributes.removeAll { $0.type == type } }

        mutating func put(_ attribute: Attribute) {
            remove(attribute.type)
            attributes.append(attribute)
        }
    }
}
