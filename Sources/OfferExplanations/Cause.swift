import OfferCore
import OfferEligibility

/// A reason the App Store rejects a signature.
///
/// To add one, add its case and its sentence here, and its code to `openapi.json`. A test compares the two lists.
/// Codes are stable: programs rely on them.
package enum Cause: String, CaseIterable, Hashable, Sendable {
    // The text of a field differs from the signed text.
    case upperCaseUUID = "upper_case_uuid"
    case letterCase = "letter_case"
    case whiteSpace = "white_space"
    case otherValue = "other_value"
    case swappedProductAndOffer = "swapped_product_and_offer"
    case customerNotSigned = "customer_not_signed"
    case customerUndefined = "customer_undefined"
    case customerLeftOut = "customer_left_out"
    case timestampInSeconds = "timestamp_in_seconds"
    case timestampInMicroseconds = "timestamp_in_microseconds"
    case timestampFormat = "timestamp_format"

    // The payload is assembled differently.
    case separator
    case textAroundPayload = "text_around_payload"
    case fieldOrder = "field_order"
    case hashedTwice = "hashed_twice"

    // The signature uses another hash function.
    case signatureSHA1 = "signature_sha1"
    case signatureSHA224 = "signature_sha224"
    case signatureSHA384 = "signature_sha384"
    case signatureSHA512 = "signature_sha512"

    // The key is not the one named.
    case keyIDDiffers = "key_id_differs"
    case wrongKey = "wrong_key"
    case unknownKeyID = "unknown_key_id"

    // The signature is encoded incorrectly.
    case signatureWhiteSpace = "signature_white_space"
    case signaturePlusLost = "signature_plus_lost"
    case signaturePercentEncoded = "signature_percent_encoded"
    case signatureBase64URL = "signature_base64url"
    case signatureUnpadded = "signature_unpadded"
    case signatureBase64Twice = "signature_base64_twice"
    case signatureHexadecimal = "signature_hexadecimal"
    case signatureRaw = "signature_raw"
    case signatureNotDER = "signature_not_der"
    case base64BitsLeft = "base64_bits_left"
    case signatureUnreadable = "signature_unreadable"
    case signatureMalformed = "signature_malformed"

    // A field is invalid.
    case emptyField = "empty_field"
    case forbiddenCharacter = "forbidden_character"
    case invisibleCharacter = "invisible_character"
    case notUUID = "not_uuid"
    case timestampNotNumber = "timestamp_not_number"
    case customerMissing = "customer_missing"

    // A JWS is built incorrectly.
    case jwsUnreadable = "jws_unreadable"
    case jwsDuplicateName = "jws_duplicate_name"
    case jwsWhiteSpace = "jws_white_space"
    case jwsPadded = "jws_padded"
    case jwsStandardBase64 = "jws_standard_base64"
    case jwsAlgorithm = "jws_algorithm"
    case jwsSignatureDER = "jws_signature_der"
    case jwsSignatureMalformed = "jws_signature_malformed"
    case jwsSignedOverOtherText = "jws_signed_over_other_text"
    case jwsType = "jws_type"
    case jwsHeader = "jws_header"

    // A claim is invalid.
    case jwsExpiry = "jws_expiry"
    case jwsAudienceList = "jws_audience_list"
    case jwsAudience = "jws_audience"
    case jwsIssuedInMilliseconds = "jws_issued_in_milliseconds"
    case claimMissing = "claim_missing"
    case claimEmpty = "claim_empty"
    case claimType = "claim_type"
    case claimDiffers = "claim_differs"
    case claimEncoding = "claim_encoding"

    /// No other cause could be proven.
    case unexplained
}

extension Cause {
    /// Explains the defect and its remedy.
    /// - Parameters:
    ///   - field: the field or claim at fault.
    ///   - keyID: the key that the finding is about.
    func sentence(field: String?, keyID: String?) -> String {
        let isAboutKey = keyID != nil
        let (field, key) = (field ?? "a field", keyID ?? "another key")
        return switch self {
        // The text of a field differs from the signed text.
        case .upperCaseUUID:
            """
            The signature covers \(field) with upper-case letters, but the App Store converts it to lower case. Sign \
            UUIDs in lower case; Foundation's uuidString is in upper case.
            """
        case .letterCase where isAboutKey:
            "\(field) differs from the key ID \(key) in letter case. Sign and pass it as App Store Connect shows it."
        case .letterCase where field == "bid":
            "bid in compactJWS differs from the app's bundle ID in letter case. Sign it as App Store Connect shows it."
        case .letterCase:
            """
            The signed \(field) differs from the presented one in letter case. Sign and pass exactly the same text. \
            The App Store converts only the UUIDs in nonce and appAccountToken to lower case.
            """
        case .whiteSpace:
            "The presented or signed \(field) begins or ends with white space. Remove it in both places."
        case .otherValue:
            """
            The signature covers a different \(field) from the one presented: see signedPayload. Request a signature \
            for the value that the app passes.
            """
        case .swappedProductAndOffer:
            "The product ID and the offer ID are swapped. The product ID comes before the offer ID."
        case .customerNotSigned:
            """
            The signature covers no \(field), but the app attaches one. Send it when you request the signature, or do \
            not attach it to the purchase.
            """
        case .customerUndefined:
            """
            The presented or signed \(field) is a string such as undefined, null or Optional("…"): a program converted \
            a missing value or an optional to text. Sign the value that the app attaches, or an empty string if it \
            attaches none.
            """
        case .customerLeftOut:
            """
            The signature covers six fields: \(field) was left out together with its separator. If the app attaches \
            none, sign an empty field and keep both separators.
            """
        case .timestampInSeconds:
            "The timestamp is in seconds. Sign and pass milliseconds since 1970."
        case .timestampInMicroseconds:
            "The timestamp is in microseconds or a smaller unit. Sign and pass milliseconds since 1970."
        case .timestampFormat:
            """
            The signature covers the timestamp in a different number format. Sign decimal digits only, without a \
            fraction or an exponent.
            """

        // The payload is assembled differently.
        case .separator:
            """
            The fields are joined by something other than U+2063 (INVISIBLE SEPARATOR, UTF-8 E2 81 A3): see \
            signedPayload. Join them with U+2063.
            """
        case .textAroundPayload:
            """
            The signed payload has extra text before or after it, such as a line break: see signedPayload. Sign only \
            the seven fields and the six separators between them.
            """
        case .fieldOrder:
            """
            The fields were signed in a different order: see signedPayload. The order is appBundleID, keyID, \
            productIdentifier, offerID, applicationUsername or appAccountToken, nonce, timestamp.
            """
        case .hashedTwice:
            """
            The text was hashed twice: the signature covers a digest that was hashed again. If the signing function \
            hashes its input, as most do, pass it the text itself.
            """

        // The signature uses another hash function.
        case .signatureSHA1: Self.sentence(ofDigest: "SHA-1")
        case .signatureSHA224: Self.sentence(ofDigest: "SHA-224")
        case .signatureSHA384: Self.sentence(ofDigest: "SHA-384")
        case .signatureSHA512: Self.sentence(ofDigest: "SHA-512")

        // The key is not the one named.
        case .keyIDDiffers:
            """
            The signature was made with the key \(key), and the signed text names that key, but the app passes a \
            different keyID. Pass the keyID that came with the signature.
            """
        case .wrongKey:
            """
            The signature was made with the private key \(key), but the signed text names another key. Name \(key), \
            or sign with the .p8 file of the named key.
            """
        case .unknownKeyID:
            """
            The key \(key) is not available here, and the signature does not verify with any available key. Find out \
            where that key is, or pass the keyID that came with the signature.
            """

        // The signature is encoded incorrectly.
        case .signatureWhiteSpace:
            "The signature contains white space or a line break. Encode it as base64 on one line."
        case .signaturePlusLost:
            """
            Every + in the signature has become a space, as happens in forms and query strings. Percent-encode the \
            signature there, or send it in JSON.
            """
        case .signaturePercentEncoded:
            "The signature is still percent-encoded. Decode it once before passing it to StoreKit."
        case .signatureBase64URL:
            "The signature is in base64url. StoreKit expects standard base64, with + and / and with padding."
        case .signatureUnpadded:
            "The signature lacks its = padding. StoreKit expects standard base64 with padding."
        case .signatureBase64Twice:
            """
            The signature is base64-encoded more than once. Encode the DER bytes once. In StoreKit 2, decode the \
            server's text before you pass it as Data.
            """
        case .signatureHexadecimal:
            "The signature is in hexadecimal. StoreKit expects base64."
        case .signatureRaw:
            """
            The signature is 64 bytes, r followed by s, as in a JWS. Here StoreKit expects ASN.1 DER: a SEQUENCE of \
            the two INTEGERs.
            """
        case .signatureNotDER:
            """
            The signature is almost ASN.1 DER: an INTEGER has a missing or extra leading zero, a length is wrong or \
            longer than necessary, or extra bytes follow the end. Let a library encode it, and pass exactly the bytes \
            of the signature, not the rest of the buffer.
            """
        case .base64BitsLeft:
            """
            The base64 of \(field) ends in a character that no encoder writes there: its unused bits are not zero. It \
            was changed or cut off in transit. Pass it on unchanged.
            """
        case .signatureUnreadable:
            """
            The signature is neither base64 nor hexadecimal, or it was cut off. Pass on what the server sent, in \
            standard base64, without quotation marks or a prefix. A compactJWS is not this kind of signature: pass it \
            to StoreKit separately.
            """
        case .signatureMalformed:
            """
            The decoded signature is neither ASN.1 DER of two INTEGERs nor r and s of 32 bytes each. It was cut off or \
            changed in transit, or it is not an ECDSA P-256 signature.
            """

        // A field is invalid.
        case .emptyField:
            "\(field) is empty. Sign and pass the value from App Store Connect."
        case .forbiddenCharacter:
            """
            \(field) contains a control character, a line separator, or U+2063, which joins the fields of a payload. \
            Remove it.
            """
        case .invisibleCharacter:
            """
            The presented or signed \(field) contains a character that is invisible or looks like a space; payload or \
            signedPayload spells it out. Remove it. Text copied from a web page often contains such characters.
            """
        case .notUUID where field == "iss":
            """
            iss is not a UUID of the form 57246542-96fe-1a63-e053-0824d011072a. It is the issuer ID above the In-App \
            Purchase keys in App Store Connect, not the team ID.
            """
        case .notUUID:
            """
            \(field) is not a UUID of the form d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10. If it is the nonce, generate a \
            new one for each signature.
            """
        case .timestampNotNumber:
            """
            The timestamp is not a whole number, or it is negative. Sign and pass milliseconds since 1970, in decimal \
            digits.
            """
        case .customerMissing:
            """
            The signature does not verify, and the app attaches no \(field) or an empty one. This is the most common \
            cause. Set the value that the signature was made for, on the payment or in the purchase option.
            """

        // A JWS is built incorrectly.
        case .jwsUnreadable:
            """
            compactJWS is not three segments of base64url with a JSON object in each of the first two. Pass it on \
            whole and unchanged, without quotation marks or a prefix. Do not pass the signature member of the server's \
            response instead.
            """
        case .jwsDuplicateName:
            """
            \(field) contains a JSON object with the same member twice, so parsers may interpret it differently. Write \
            each member once.
            """
        case .jwsWhiteSpace:
            "compactJWS contains white space or a line break. Pass it on unchanged, on one line."
        case .jwsPadded:
            "A segment of compactJWS ends in =. Encode each segment in base64url without padding before signing."
        case .jwsStandardBase64:
            """
            A segment of compactJWS contains + or /. Before signing, encode each segment in base64url, which uses - \
            and _ instead.
            """
        case .jwsAlgorithm:
            "alg in the header is not ES256, the only algorithm that the App Store accepts."
        case .jwsSignatureDER:
            "The signature in compactJWS is ASN.1 DER. A JWS has r followed by s, 32 bytes each."
        case .jwsSignatureMalformed:
            """
            The signature, the third segment of compactJWS, is not r and s of 32 bytes each in base64url. It was cut \
            off or changed in transit, or it is not an ES256 signature.
            """
        case .jwsSignedOverOtherText:
            """
            The signature covers something other than the first two segments joined by a dot: see signedPayload. Sign \
            the ASCII bytes of header.claims exactly as they are sent.
            """
        case .jwsType:
            "typ in the header is not JWT, the value that Apple's documentation specifies."
        case .jwsHeader where field == "x5c":
            """
            compactJWS has a certificate chain (x5c), so it is a JWS that Apple signed, such as a transaction. Pass \
            the JWS that the server signed.
            """
        case .jwsHeader:
            """
            \(field) in the header changes how a JWS is processed. A JWS for the App Store needs only alg, kid and \
            typ there: omit the rest.
            """

        // A claim is invalid.
        case .jwsExpiry:
            """
            The exp claim is present, and the App Store rejects a JWS that has it. Omit it; many JWT libraries add it \
            automatically.
            """
        case .jwsAudienceList:
            "The aud claim is a list. It must be a single string."
        case .jwsAudience:
            """
            The aud claim does not fit this request. It must be promotional-offer with offerIdentifier, \
            introductory-offer-eligibility with allowIntroductoryOffer, and advanced-commerce-api with request.
            """
        case .jwsIssuedInMilliseconds:
            "The iat claim is in milliseconds. It must be whole seconds since 1970."
        case .claimMissing:
            "\(field) is missing from compactJWS."
        case .claimEmpty:
            """
            \(field) in compactJWS is empty or null. Set its value. Only transactionId may be omitted, and only from a \
            promotional offer.
            """
        case .claimType:
            """
            \(field) in compactJWS has the wrong JSON type or form: identifiers are strings, iat is a whole number of \
            seconds in digits only, allowIntroductoryOffer is true or false, and request is a base64 string.
            """
        case .claimDiffers where field == "iss":
            """
            iss in compactJWS is not the configured issuer ID. Use the one shown above the In-App Purchase keys in App \
            Store Connect, for the team that owns the key.
            """
        case .claimDiffers:
            """
            \(field) in compactJWS differs from the expected value. Request a JWS with the values that the app passes \
            to StoreKit.
            """
        case .claimEncoding:
            "\(field) in compactJWS is not a JSON object in standard base64 on one line, with padding."

        case .unexplained:
            """
            The signature does not verify with any available key, and no common mistake explains why. A field differs \
            from its signed value, another key made the signature, or several mistakes were made at once. Compare each \
            field with the server's response.
            """
        }
    }

    private static func sentence(ofDigest name: String) -> String {
        """
        The signature was made with \(name). The App Store accepts only ECDSA with SHA-256: choose SHA-256 in the \
        signing function.
        """
    }
}

extension SignatureDigest {
    /// The cause that names this digest; nil for SHA-256, which is correct.
    var cause: Cause? {
        switch self {
        case .sha1: .signatureSHA1
        case .sha224: .signatureSHA224
        case .sha256: nil
        case .sha384: .signatureSHA384
        case .sha512: .signatureSHA512
        }
    }
}
