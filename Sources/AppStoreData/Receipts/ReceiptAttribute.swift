/// One attribute of a receipt or of a purchase in it: `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
struct ReceiptAttribute {
    let type: UInt64
    let value: ArraySlice<UInt8>

    /// Reads an attribute and ignores its version, which is 1 for most types and 2 for type 4.
    fileprivate init(_ content: ArraySlice<UInt8>) throws(DERError) {
        var reader = DERReader(content)
        type = try reader.nextNumber()
        _ = try reader.nextNumber()
        value = try reader.next(.octetString)
        try reader.requireEnd()
    }

    /// Reads a `SET OF` attributes, in any order.
    static func readAll(
        _ set: ArraySlice<UInt8>, _ body: (ReceiptAttribute) throws(ReceiptPayloadError) -> Void
    ) throws(ReceiptPayloadError) {
        var reader: DERReader
        do { reader = DERReader(try DERReader.only(.set, in: set)) } catch { throw ReceiptPayloadError(.notSet(error)) }
        while !reader.isAtEnd {
            let attribute: ReceiptAttribute
            do { attribute = try ReceiptAttribute(try reader.next(.sequence)) } catch {
                throw ReceiptPayloadError(.notAttribute(error))
            }
            try body(attribute)
        }
    }
}
