package import OfferCore

/// A message to upload, in one language, checked against Apple's limits.
///
/// Source: Apple, "Upload Message" (Retention Messaging API documentation).
package struct RetentionMessage: Hashable, Sendable {
    package struct Image: Hashable, Sendable {
        package let identifier: UUIDText
        /// The alternative text, read aloud to people who cannot see the image.
        package let altText: FieldText

        package init(identifier: UUIDText, altText: String) throws(UploadFault) {
            self.identifier = identifier
            self.altText = try RetentionMessage.text(altText, "altText", 150)
        }
    }

    package struct Bullet: Hashable, Sendable {
        package let text: FieldText
        package let image: Image

        package init(text: String, image: Image) throws(UploadFault) {
            self.text = try RetentionMessage.text(text, "a bullet point", 66)
            self.image = image
        }
    }

    package enum HeaderPosition: String, CaseIterable, Sendable {
        case aboveBody = "ABOVE_BODY"
        case aboveImage = "ABOVE_IMAGE"
    }

    package static let maximumBullets = 5

    private let header: FieldText
    private let body: FieldText
    private let image: Image?
    private let headerPosition: HeaderPosition?
    private let bullets: [Bullet]

    package init(
        header: String, body: String, image: Image? = nil, headerPosition: HeaderPosition? = nil,
        bullets: [Bullet] = []
    ) throws(UploadFault) {
        self.header = try Self.text(header, "header", 66)
        self.body = try Self.text(body, "body", 144)
        guard bullets.count <= Self.maximumBullets else {
            throw .tooManyBullets
        }
        guard headerPosition != .aboveImage || image != nil else {
            throw .headerAboveImage
        }
        (self.image, self.headerPosition, self.bullets) = (image, headerPosition, bullets)
    }

    /// - Parameter maximum: the maximum number of characters (grapheme clusters).
    fileprivate static func text(_ text: String, _ field: String, _ maximum: Int) throws(UploadFault) -> FieldText {
        guard text.count <= maximum else { throw .tooLong(field: field, characters: maximum) }
        do { return try FieldText(utf8: Array(text.utf8), field: field, sizes: 1...(maximum * 64)) } catch {
            throw .field(error)
        }
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.member("header", utf8: header.utf8)
        writer.member("body", utf8: body.utf8)
        if let image { writer.object("image") { image.write(to: &$0) } }
        if let headerPosition { writer.member("headerPosition", headerPosition.rawValue) }
        if !bullets.isEmpty {
            writer.objects("bulletPoints", bullets) { writer, bullet in
                writer.member("text", utf8: bullet.text.utf8)
                bullet.image.write(to: &writer)
            }
        }
        return writer.finish()
    }
}

extension RetentionMessage.Image {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("imageIdentifier", "\(identifier)")
        writer.member("altText", utf8: altText.utf8)
    }
}
