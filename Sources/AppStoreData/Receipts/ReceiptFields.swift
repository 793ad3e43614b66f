import OfferCore

/// The known attributes of a set, undecoded. Each occurs at most once.
struct ReceiptFields<Name: RawRepresentable<UInt64> & Hashable> {
    // There are about a dozen values, so a linear search is faster than a dictionary.
    private var values: [(name: Name, value: ArraySlice<UInt8>)] = []

    init() { values.reserveCapacity(16) }

    mutating func add(_ name: Name, _ value: ArraySlice<UInt8>) throws(ReceiptPayloadError) {
        guard self[name] == nil else { throw ReceiptPayloadError(.repeated, attribute: name.rawValue) }
        values.append((name, value))
    }

    /// The value as signed.
    subscript(name: Name) -> ArraySlice<UInt8>? {
        for entry in values where entry.name == name { return entry.value }
        return nil
    }

    func required<Value>(_ name: Name, _ value: Value?) throws(ReceiptPayloadError) -> Value {
        guard let value else { throw ReceiptPayloadError(.missing, attribute: name.rawValue) }
        return value
    }

    func number(_ name: Name) throws(ReceiptPayloadError) -> UInt64? {
        guard let value = self[name] else { return nil }
        do throws(DERError) {
            var reader = DERReader(value)
            let number = try reader.nextNumber()
            try reader.requireEnd()
            return number
        } catch { throw ReceiptPayloadError(.wrongValue(error), attribute: name.rawValue) }
    }

    func flag(_ name: Name) throws(ReceiptPayloadError) -> Bool? {
        guard let number = try number(name) else { return nil }
        guard number <= 1 else { throw ReceiptPayloadError(.wrongFlag, attribute: name.rawValue) }
        return number == 1
    }

    /// - Returns: nil if the attribute is absent or its text is empty.
    func field<Field>(
        _ name: Name, _ check: MemberReader.Check<Field>, as tag: DERTag = .utf8String
    ) throws(ReceiptPayloadError) -> Field? {
        guard let text = try text(name, tag) else { return nil }
        do { return try check(Array(text), "") } catch {
            throw ReceiptPayloadError(.wrongText, attribute: name.rawValue)
        }
    }

    /// - Returns: nil if the attribute is absent or its date is empty.
    func date(_ name: Name) throws(ReceiptPayloadError) -> Timestamp? {
        guard let text = try text(name, .ia5String) else { return nil }
        guard let date = Timestamp(rfc3339: text) else {
            throw ReceiptPayloadError(.wrongDate, attribute: name.rawValue)
        }
        return date
    }

    private func text(_ name: Name, _ tag: DERTag) throws(ReceiptPayloadError) -> ArraySlice<UInt8>? {
        guard let value = self[name] else { return nil }
        do {
            let text = try DERReader.only(tag, in: value)
            return text.isEmpty ? nil : text
        } catch { throw ReceiptPayloadError(.wrongValue(error), attribute: name.rawValue) }
    }
}
