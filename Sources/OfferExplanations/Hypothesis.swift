import OfferCore
import OfferEligibility

/// One mistake that the signer of a payload may have made. A signature that verifies over the altered payload proves
/// the mistake.
struct Hypothesis: Sendable {
    let finding: Finding
    /// True if the hypothesis is also tried with other keys and in combination with every other common hypothesis.
    let isCommon: Bool
    let apply: @Sendable (inout CandidatePayload) -> Void

    init(_ finding: Finding, isCommon: Bool = false, _ apply: @escaping @Sendable (inout CandidatePayload) -> Void) {
        self.finding = finding
        self.isCommon = isCommon
        self.apply = apply
    }

    /// Lists all hypotheses about the presented fields, likeliest first. There are at most about 200, and about 20 of
    /// them are common.
    static func all(of presented: PresentedFields, names: KnownNames) -> [Hypothesis] {
        upperCase(presented) + customer(presented) + letterCase(presented) + timestamp(presented) + assembly
            + digests
            + Separator.others.map { separator in
                Hypothesis(Finding(.separator), isCommon: Separator.common.contains(separator)) {
                    $0.separator = separator
                }
            } + surroundingText + whiteSpace(presented) + invisible(presented) + knownValues(presented, names) + orders
    }

    // MARK: Texts of fields

    private static func text(
        _ cause: Cause, _ field: PayloadField, of presented: PresentedFields, isCommon: Bool = true, _ text: [UInt8]
    ) -> Hypothesis {
        Hypothesis(Finding(cause, field: presented.name(field)), isCommon: isCommon) { $0[field] = text }
    }

    private static func upperCase(_ presented: PresentedFields) -> [Hypothesis] {
        (presented.hasToken ? [.nonce, .customer] : [PayloadField.nonce]).flatMap { field in
            let text = presented.texts[field] ?? []
            // The presented text may mix both cases.
            return [text.upperCase, text].map { Self.text(.upperCaseUUID, field, of: presented, $0) }
        }
    }

    private static func customer(_ presented: PresentedFields) -> [Hypothesis] {
        let text = presented.texts[.customer] ?? []
        let undefined = FieldDefects.undefinedTexts.map {
            Self.text(.customerUndefined, .customer, of: presented, isCommon: $0 == "undefined", Array($0.utf8))
        }
        let leftOut = Hypothesis(Finding(.customerLeftOut, field: presented.name(.customer)), isCommon: true) {
            $0.order.removeAll { $0 == .customer }
        }
        if text.isEmpty { return undefined + [leftOut] }
        let wrapped = Self.text(
            .customerUndefined, .customer, of: presented, isCommon: false,
            Array("Optional(\"".utf8) + text + Array("\")".utf8))
        return [Self.text(.customerNotSigned, .customer, of: presented, [])] + undefined + [leftOut, wrapped]
    }

    private static func letterCase(_ presented: PresentedFields) -> [Hypothesis] {
        let fields: [PayloadField] = [.customer, .appBundleID, .productIdentifier, .offerID]
        return fields.flatMap { field in
            let text = presented.texts[field] ?? []
            return [text.lowerCase, text.upperCase].filter { $0 != text }.map {
                Self.text(.letterCase, field, of: presented, isCommon: field == .customer || $0 == text.lowerCase, $0)
            }
        }
    }

    private static func timestamp(_ presented: PresentedFields) -> [Hypothesis] {
        guard let milliseconds = presented.milliseconds else { return [] }
        func text(_ cause: Cause, _ text: String, isCommon: Bool = false) -> Hypothesis {
            Self.text(cause, .timestamp, of: presented, isCommon: isCommon, Array(text.utf8))
        }
        let seconds = milliseconds / 1000
        let fraction = String(1000 + abs(milliseconds % 1000)).dropFirst()
        return [
            text(.timestampInSeconds, String(seconds), isCommon: true),
            text(.timestampInSeconds, "\(seconds).\(fraction)"),
            // Presented in seconds but signed in milliseconds; or presented in milliseconds but signed in microseconds.
            text(presented.isInSeconds ? .timestampInSeconds : .timestampInMicroseconds, "\(milliseconds)000"),
            text(.timestampInMicroseconds, "\(milliseconds)000000"),
            text(.timestampFormat, "\(milliseconds).0"),
            text(.timestampFormat, String(decoding: presented.texts[.timestamp] ?? [], as: UTF8.self)),
            text(.timestampFormat, Self.scientific(milliseconds, exponentSign: "+")),
            text(.timestampFormat, Self.scientific(milliseconds, exponentSign: "")),
        ]
    }

    /// Formats a number in scientific notation, such as `1.7672256e+12`, as some JSON writers do for large numbers.
    private static func scientific(_ number: Int64, exponentSign: String) -> String {
        let digits = String(number)
        var fraction = digits.dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(digits.prefix(1))\(fraction.isEmpty ? "" : ".")\(fraction)e\(exponentSign)\(max(digits.count - 1, 0))"
    }

    private static func whiteSpace(_ presented: PresentedFields) -> [Hypothesis] {
        PayloadField.allCases.flatMap { field in
            let text = presented.texts[field] ?? []
            let (space, newline) = ([UInt8(ascii: " ")], [UInt8(ascii: "\n")])
            let variants: [[UInt8]] = [text.trimmed, text + space, space + text, text + newline]
            return variants.filter { $0 != text }.map {
                Self.text(.whiteSpace, field, of: presented, isCommon: $0 == text.trimmed, $0)
            }
        }
    }

    private static func invisible(_ presented: PresentedFields) -> [Hypothesis] {
        PayloadField.allCases.compactMap { field in
            let text = presented.texts[field] ?? []
            let visible = ReadableText.withoutInvisible(text)
            return visible == text ? nil : Self.text(.invisibleCharacter, field, of: presented, visible)
        }
    }

    private static func knownValues(_ presented: PresentedFields, _ names: KnownNames) -> [Hypothesis] {
        [PayloadField.appBundleID, .productIdentifier, .offerID].flatMap { field in
            let text = presented.texts[field] ?? []
            return names.values(of: field, near: text, app: presented.texts[.appBundleID] ?? []).map { value in
                let differsInCase = value.isEqual(ignoringCaseOf: text)
                return Self.text(
                    differsInCase ? .letterCase : .otherValue, field, of: presented, isCommon: differsInCase, value)
            }
        }
    }

    // MARK: Assembly of the payload

    private static let assembly = [
        Hypothesis(Finding(.swappedProductAndOffer), isCommon: true) { payload in
            (payload[.productIdentifier], payload[.offerID]) = (payload[.offerID], payload[.productIdentifier])
        },
        Hypothesis(Finding(.hashedTwice), isCommon: true) { $0.digest = .bytes },
        Hypothesis(Finding(.hashedTwice)) { $0.digest = .hexadecimal },
    ]

    private static let digests = SignatureDigest.allCases.compactMap { digest in
        digest.cause.map { cause in
            Hypothesis(Finding(cause, field: "signature")) { $0.signatureDigest = digest }
        }
    }

    private static let surroundingText = [
        Hypothesis(Finding(.textAroundPayload)) { $0.suffix = Array("\n".utf8) },
        Hypothesis(Finding(.textAroundPayload)) { $0.suffix = Array("\r\n".utf8) },
        Hypothesis(Finding(.textAroundPayload)) { $0.suffix = $0.separator.utf8 },
        Hypothesis(Finding(.textAroundPayload)) { $0.prefix = $0.separator.utf8 },
        Hypothesis(Finding(.textAroundPayload)) { $0.prefix = [0xEF, 0xBB, 0xBF] },
    ]

    /// The orders in which two fields are swapped or one is moved: 51 of the 5040 possible orders.
    private static let orders: [Hypothesis] = {
        let right = PayloadField.allCases
        var orders: [[PayloadField]] = []
        for first in right.indices {
            for second in right.indices where second != first {
                var swapped = right
                swapped.swapAt(first, second)
                var moved = right
                moved.insert(moved.remove(at: first), at: second)
                for order in [swapped, moved] where !orders.contains(order) { orders.append(order) }
            }
        }
        return orders.map { order in Hypothesis(Finding(.fieldOrder)) { $0.order = order } }
    }()
}
