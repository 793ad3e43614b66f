/// The reason that a signed message is refused. It never quotes the message.
package enum SignedMessageError: Error, Hashable, Sendable {
    /// The message has more than ``SignedMessage/maximumSize`` bytes.
    case tooLarge
    /// The bytes are not one element in BER.
    case malformed
    /// The message is nested too deeply or has too many elements.
    case tooComplex
    /// Bytes follow the message.
    case trailingBytes
    /// libcrypto cannot parse the message.
    case unreadable(OpenSSLError)
    /// The message is CMS, but not SignedData.
    case notSignedData
    /// The type of the signed content is not `data`.
    case wrongContentType
    /// The message does not contain the signed content.
    case detached
    /// The message does not have exactly one signer.
    case signerCount(Int)
    /// The message has more than ``SignedMessage/maximumCertificates`` certificates.
    case tooManyCertificates
    case certificate(CertificateError)
    /// The signer is not named by issuer and serial number.
    case unnamedSigner
    /// No enclosed certificate, or more than one, has the signer's issuer and serial number.
    case signerCertificateCount(Int)
    /// The signer's key is not an RSA key of a usual size.
    case unsuitableKey
    /// The digest is neither SHA-1 nor SHA-256, or the signature algorithm does not match it.
    case unsupportedAlgorithm
    /// The signed attributes do not contain the content type `data` exactly once.
    case wrongContentTypeAttribute
    /// The signature, or the digest in the signed attributes, does not match.
    case wrongSignature
    /// libcrypto could not verify the signature, for example because memory ran out.
    case failed(OpenSSLError)
}

extension SignedMessageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLarge: "the message is larger than \(SignedMessage.maximumSize) bytes"
        case .malformed: "the message is not ASN.1 in BER or is cut off"
        case .tooComplex: "the message has too many or too deeply nested elements"
        case .trailingBytes: "bytes follow the message"
        case .unreadable(let error): "not a CMS message: \(error)"
        case .notSignedData: "the CMS message is not SignedData"
        case .wrongContentType: "the signed content is not of the type data"
        case .detached: "the message does not contain the signed content"
        case .signerCount(let count): "the message has \(count) signers instead of one"
        case .tooManyCertificates: "the message has more than \(SignedMessage.maximumCertificates) certificates"
        case .certificate(let error): "an enclosed certificate is unreadable: \(error)"
        case .unnamedSigner: "the signer is not named by issuer and serial number"
        case .signerCertificateCount(let count): "the message has \(count) certificates of the signer instead of one"
        case .unsuitableKey: "the signer's key is not an RSA key of 2048 to 4096 bits"
        case .unsupportedAlgorithm: "the signature is not RSA with SHA-1 or SHA-256"
        case .wrongContentTypeAttribute: "the signed attributes do not name the content type data"
        case .wrongSignature: "the signature does not match the content"
        case .failed(let error): "the signature could not be verified: \(error)"
        }
    }
}
