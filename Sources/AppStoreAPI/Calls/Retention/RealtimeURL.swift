package import OfferCore
import OfferEligibility

/// The HTTPS URL from which the App Store requests retention messages. It has at most 256 characters.
package struct RealtimeURL: Hashable, Sendable {
    package let text: FieldText

    static let maximumSize = 256

    package init(_ text: String) throws(UploadFault) {
        let rest = text.dropFirst("https://".count)
        let isPrintable = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard text.lowercased().hasPrefix("https://"), !rest.hasPrefix("/"), !rest.isEmpty, isPrintable,
            text.utf8.count <= Self.maximumSize
        else { throw .notHTTPS }
        do { self.text = try FieldText(utf8: Array(text.utf8), field: "the URL", sizes: 1...Self.maximumSize) } catch {
            throw .field(error)
        }
    }
}
