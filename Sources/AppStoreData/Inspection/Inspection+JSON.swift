import OfferCore
import OfferCrypto

extension Inspection {
    /// The result as a JSON object on one line.
    package var json: [UInt8] {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.finish()
    }

    private func write(to writer: inout JSONWriter) {
        writer.member("verified", isVerified)
        if let kind { writer.member("kind", kind.rawValue) } else { writer.null("kind") }
        if let refusal {
            writer.member("reason", refusal.code)
            writer.member("sentence", refusal.sentence)
            if let member = refusal.member { writer.member("member", member) }
        }
        if isFromXcode { writer.member("signedBy", "xcode") }
        if let effectiveDate { writer.member("effectiveDate", effectiveDate) }
        if let payload { writer.rawMembers(Array("\"payload\":".utf8) + payload) } else { writer.null("payload") }
        if !inner.isEmpty {
            writer.object("inner") { writer in
                for (member, inspection) in inner { writer.object(member, inspection.write) }
            }
        }
        writer.objects("certificates", certificates) { $1.write(to: &$0) }
    }
}

extension X509Certificate {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("subject", subject)
        writer.member("notBefore", Timestamp(seconds: notBefore))
        writer.member("notAfter", Timestamp(seconds: notAfter))
        writer.member("fingerprint", hexadecimal: digest)
    }
}

extension JSONWriter {
    /// Writes a time in ISO 8601, or null if the year does not have four digits.
    fileprivate mutating func member(_ name: String, _ time: Timestamp) {
        if time.isPrintable { member(name, utf8: time.iso8601) } else { null(name) }
    }
}
