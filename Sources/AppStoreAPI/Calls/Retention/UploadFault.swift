package import OfferCore

/// The reason that Apple would refuse a retention message, an image or the URL.
package enum UploadFault: Error, Hashable, Sendable {
    case field(FieldError)
    case tooLong(field: String, characters: Int)
    case tooManyBullets
    case headerAboveImage
    case notHTTPS
    case notPNG
    case transparent
    case wrongDimensions(RetentionImage.Size, width: Int, height: Int)
}

extension UploadFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .field(let error): error.description
        case .tooLong(let field, let maximum): "\(field) must not be longer than \(maximum) characters."
        case .tooManyBullets: "A message can have at most \(RetentionMessage.maximumBullets) bullet points."
        case .headerAboveImage: "A header above the image requires an image."
        case .notHTTPS:
            "The URL must begin with https:// and a host, and have at most \(RealtimeURL.maximumSize) characters."
        case .notPNG: "The image is not a PNG file."
        case .transparent: "The image must not be transparent: it has an alpha channel or a transparent colour."
        case .wrongDimensions(let size, let width, let height):
            "The image is \(width) by \(height) pixels. As \(size.rawValue), it must be \(size.dimensions)."
        }
    }
}
