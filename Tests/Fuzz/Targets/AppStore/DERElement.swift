/// An element in DER (X.690), for inputs that a target completes.
enum DERElement {
    static func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
        let digits = stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: content.count >> $0) }
            .drop { $0 == 0 }
        return [tag, 0x80 | UInt8(digits.count)] + digits + content
    }
}
