/// One thing that may have been done otherwise when a payload was signed. That a signature verifies over the varied payload proves
/// it.
struct Variation: Sendable {
    let finding: Finding
    /// Whether it is also tried together with the others that are.
    let isCommon: Bool
    let apply: @Sendable (inout SignedForm) -> Void

    init(_ finding: Finding, isCommon: Bool = false, _ apply: @escaping @Sendable (inout SignedForm) -> Void) {
        self.finding = finding
        self.isCommon = isCommon
        self.apply = apply
    }

    /// Every variation of what was presented, the likeliest first: at most about 200, of which about 20 are common.
    static func all(of presented: PresentedFields, names: KnownNames) -> [Variation] {
        upperCase(presented) + customer(presented) + letterCase(presented) + timestamp(presented) + together
            + Separator.others.map { separator in
                Variation(Finding(.separator), isCommon: Separator.common.contains(separator)) {
                    $0.separator = separator
                }
            } + around + whiteSpace(presented) + invisible(presented) + known(presented, names) + orders
    }

    // MARK: Other texts

    private static func text(
        _ cause: Cause, _ field: PayloadField, of presented: PresentedFields, isCommon: Bool = true, _ text: [UInt8]
    ) -> Variation {
        Variation(Finding(cause, field: presented.name(field)), isCommon: isCommon) { $0[field] = text }
    }

    private static func upperCase(_ presented: PresentedFields) -> [Variation] {
        (presented.hasToken ? [.nonce, .customer] : [PayloadField.nonce]).flatMap { field in
            let text = presented.texts[field] ?? []
            // As it came, too: it may have both cases.
            return [text.upperCase, text].map { Self.text(.upperCaseUUID, field, of: presented, $0) }
        }
    }

    private static func customer(_ presented: PresentedFields) -> [Variation] {
        let text = presented.texts[.customer] ?? []
        let nothing = FieldDefects.undefinedTexts.map {
            Self.text(.customerUndefined, .customer, of: presented, isCommon: $0 == "undefined", Array($0.utf8))
        }
        let leftOut = Variation(Finding(.customerLeftOut, field: presented.name(.customer)), isCommon: true) { form in
            form.order.removeAll { $0 == .customer }
        }
        if text.isEmpty { return nothing + [leftOut] }
        let wrapped = Self.text(
            .customerUndefined, .customer, of: presented, isCommon: false,
            Array("Optional(\"".utf8) + text + Array("\")".utf8))
        return [Self.text(.customerNotSigned, .customer, of: presented, [])] + nothing + [leftOut, wrapped]
    }

    private static func letterCase(_ presented: PresentedFields) -> [Variation] {
        let fields: [PayloadField] = [.customer, .appBundleID, .productIdentifier, .offerID]
        return fields.flatMap { field in
            let text = presented.texts[field] ?? []
            return [text.lowerCase, text.upperCase].filter { $0 != text }.map {
                Self.text(.letterCase, field, of: presented, isCommon: field == .customer || $0 == text.lowerCase, $0)
            }
        }
    }

    private static func timestamp(_ presented: PresentedFields) -> [Variation] {
        guard let milliseconds = presented.milliseconds else { return [] }
        func text(_ cause: Cause, _ text: String, isCommon: Bool = false) -> Variation {
            Self.text(cause, .timestamp, of: presented, isCommon: isCommon, Array(text.utf8))
        }
        let seconds = milliseconds / 1000
        let fraction = String(1000 + abs(milliseconds % 1000)).dropFirst()
        return [
            text(.timestampInSeconds, String(seconds), isCommon: true),
            text(.timestampInSeconds, "\(seconds).\(fraction)"),
            // Presented in seconds, and signed in milliseconds of a whole second; or signed in microseconds.
            text(presented.isInSeconds ? .timestampInSeconds : .timestampInMicroseconds, "\(milliseconds)000"),
            text(.timestampInMicroseconds, "\(milliseconds)000000"),
            text(.timestampFormat, "\(milliseconds).0"),
            text(.timestampFormat, String(decoding: presented.texts[.timestamp] ?? [], as: UTF8.self)),
            text(.timestampFormat, Self.scientific(milliseconds, exponentSign: "+")),
            text(.timestampFormat, Self.scientific(milliseconds, exponentSign: "")),
        ]
    }

    /// Such as `1.7672256e+12`, as some writers of JSON have a large number.
    private static func scientific(_ number: Int64, exponentSign: String) -> String {
        let digits = String(number)
        var fraction = digits.dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(digits.prefix(1))\(fraction.isEmpty ? "" : ".")\(fraction)e\(exponentSign)\(max(digits.count - 1, 0))"
    }

    private static func whiteSpace(_ presented: PresentedFields) -> [Variation] {
        PayloadField.allCases.flatMap { field in
            let text = presented.texts[field] ?? []
            let blank = Array(" ".utf8)
            return [text.trimmed, text + blank, blank + text, text + Array("\n".utf8)].filter { $0 != text }.map {
                Self.text(.whiteSpace, field, of: presented, isCommon: $0 == text.trimmed, $0)
            }
        }
    }

    private static func invisible(_ presented: PresentedFields) -> [Variation] {
        PayloadField.allCases.compactMap { field in
            let text = presented.texts[field] ?? []
            let visible = ReadableText.withoutInvisible(text)
            return visible == text ? nil : Self.text(.invisibleCharacter, field, of: presented, visible)
        }
    }

    private static func known(_ presented: PresentedFields, _ names: KnownNames) -> [Variation] {
        [PayloadField.appBundleID, .productIdentifier, .offerID].flatMap { field in
            let text = presented.texts[field] ?? []
            return names.values(of: field, near: text, app: presented.texts[.appBundleID] ?? []).map { value in
                let isSameWord = value.isEqual(ignoringCaseOf: text)
                return Self.text(
                    isSameWord ? .letterCase : .otherValue, field, of: presented, isCommon: isSameWord, value)
            }
        }
    }

    // MARK: Another way to put them together

    private static let together = [
        Variation(Finding(.swappedProductAndOffer), isCommon: true) { form in
            (form[.productIdentifier], form[.offerID]) = (form[.offerID], form[.productIdentifier])
        },
        Variation(Finding(.hashedTwice), isCommon: true) { $0.digest = .bytes },
        Variation(Finding(.hashedTwice)) { $0.digest = .hexadecimal },
    ]

    private static let around = [
        Variation(Finding(.textAroundPayload)) { $0.end = Array("\n".utf8) },
        Variation(Finding(.textAroundPayload)) { $0.end = Array("\r\n".utf8) },
        Variation(Finding(.textAroundPayload)) { $0.end = $0.separator.utf8 },
        Variation(Finding(.textAroundPayload)) { $0.start = $0.separator.utf8 },
        Variation(Finding(.textAroundPayload)) { $0.start = [0xEF, 0xBB, 0xBF] },
    ]

    /// The orders in which two fields have changed places, or one stands elsewhere: 51 of the 5040.
    private static let orders: [Variation] = {
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
        return orders.map { order in Variation(Finding(.fieldOrder)) { $0.order = order } }
    }()
}
