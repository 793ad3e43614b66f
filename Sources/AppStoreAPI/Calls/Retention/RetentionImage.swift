/// An image to upload, checked against Apple's requirements.
///
/// Sources: Apple, "Upload Image" (Retention Messaging API documentation); PNG (W3C Recommendation, third edition),
/// sections 5.2, 5.3 and 11.2.1.
package struct RetentionImage: Hashable, Sendable {
    package enum Size: String, CaseIterable, Sendable {
        case full = "FULL_SIZE"
        case bulletPoint = "BULLET_POINT"
    }

    package let png: [UInt8]
    package let size: Size

    package init(png: [UInt8], size: Size) throws(UploadFault) {
        guard let chunks = PNGChunks(png), let header = chunks.header else { throw .notPNG }
        guard !header.hasAlpha, !chunks.names.contains("tRNS") else { throw .transparent }
        guard size.accepts(width: header.width, height: header.height) else {
            throw .wrongDimensions(size, width: header.width, height: header.height)
        }
        (self.png, self.size) = (png, size)
    }
}

extension RetentionImage.Size {
    fileprivate func accepts(width: Int, height: Int) -> Bool {
        switch self {
        case .full: width == 3840 && (160...2160).contains(height)
        case .bulletPoint: width == 1024 && height == 1024
        }
    }

    /// The required dimensions, in words.
    package var dimensions: String {
        switch self {
        case .full: "3840 pixels wide and 160 to 2160 high"
        case .bulletPoint: "1024 by 1024 pixels"
        }
    }
}

/// The chunk names and the header of a PNG file. Checksums and pixels are not checked.
private struct PNGChunks {
    struct Header {
        let width: Int
        let height: Int
        let hasAlpha: Bool
    }

    private(set) var names: [String] = []
    private(set) var header: Header?

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// - Returns: nil unless the bytes are a complete PNG file.
    init?(_ bytes: [UInt8]) {
        guard bytes.starts(with: Self.signature) else { return nil }
        var place = Self.signature.count
        while names.last != "IEND" {
            guard let length = Self.number(bytes, at: place), length <= bytes.count - place - 12 else { return nil }
            let name = String(decoding: bytes[(place + 4)..<(place + 8)], as: UTF8.self)
            if names.isEmpty {
                guard name == "IHDR", length == 13 else { return nil }
                header = Self.header(bytes, at: place + 8)
            }
            names.append(name)
            place += 12 + length
        }
    }

    private static func header(_ bytes: [UInt8], at place: Int) -> Header? {
        guard let width = number(bytes, at: place), let height = number(bytes, at: place + 4) else { return nil }
        // Colour types 4 and 6 have an alpha channel.
        return Header(width: width, height: height, hasAlpha: bytes[place + 9] & 4 != 0)
    }

    private static func number(_ bytes: [UInt8], at place: Int) -> Int? {
        guard place + 4 <= bytes.count else { return nil }
        return bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}
