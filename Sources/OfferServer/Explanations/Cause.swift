/// Why the App Store refuses a signature. The names are stable, for programs; the API's contract (`openapi.json`) lists them
/// all, and a test holds it to that.
package enum Cause: String, CaseIterable, Hashable, Sendable {
    // A field has another text than the one that was signed.
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

    // The fields are put together in another way.
    case separator
    case textAroundPayload = "text_around_payload"
    case fieldOrder = "field_order"
    case hashedTwice = "hashed_twice"

    // The key is another one.
    case keyIDDiffers = "key_id_differs"
    case wrongKey = "wrong_key"
    case unknownKeyID = "unknown_key_id"

    // The signature is written in another way.
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

    // A field cannot be what it should be.
    case emptyField = "empty_field"
    case forbiddenCharacter = "forbidden_character"
    case invisibleCharacter = "invisible_character"
    case notUUID = "not_uuid"
    case timestampNotNumber = "timestamp_not_number"
    case customerMissing = "customer_missing"

    // A JWS is built in another way.
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

    // A claim is wrong.
    case jwsExpiry = "jws_expiry"
    case jwsAudienceList = "jws_audience_list"
    case jwsAudience = "jws_audience"
    case jwsIssuedInMilliseconds = "jws_issued_in_milliseconds"
    case claimMissing = "claim_missing"
    case claimEmpty = "claim_empty"
    case claimType = "claim_type"
    case claimDiffers = "claim_differs"
    case claimEncoding = "claim_encoding"

    /// None of the above can be shown.
    case unexplained
}

/// One thing that is wrong, and where.
package struct Finding: Hashable, Sendable {
    package let cause: Cause
    /// The field or the claim at fault, as it is spelt in what was presented.
    package let field: String?
    /// The key that the finding is about.
    package let keyID: String?

    package init(_ cause: Cause, field: String? = nil, keyID: String? = nil) {
        self.cause = cause
        self.field = field
        self.keyID = keyID
    }
}
