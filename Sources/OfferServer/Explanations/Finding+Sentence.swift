extension Finding {
    /// What differs, and how to mend it.
    package var sentence: String {
        let field = field ?? "a field"
        let key = keyID ?? "another key"
        return switch cause {
        case .upperCaseUUID:
            """
            The signature covers \(field) in capitals, and the App Store puts it in lower case. Sign UUIDs in lower case; \
            Foundation's uuidString has capitals.
            """
        case .letterCase where keyID != nil:
            "\(field) has other capitals than the ID of the key \(key) here. Sign and pass it as App Store Connect shows it."
        case .letterCase where field == "bid":
            "bid in compactJWS has other capitals than the app has. Sign it as App Store Connect shows it."
        case .letterCase:
            """
            The signature covers \(field) with other capitals than the ones presented. Sign and pass the very same text; only \
            UUIDs of nonce and appAccountToken are put in lower case.
            """
        case .whiteSpace:
            "\(field) has white space at an end, here or in what was signed. Remove it at both places."
        case .otherValue:
            "The signature is for another \(field) than the one presented: see signedPayload. Ask for it with what the app passes."
        case .swappedProductAndOffer:
            "The product and the offer have changed places. The product ID comes before the offer ID."
        case .customerNotSigned:
            """
            The signature covers no \(field), and the app attaches one. Send it when you ask for the signature, or do not attach \
            it to the purchase.
            """
        case .customerUndefined:
            """
            \(field) is a text such as undefined, null or Optional("…"), here or in what was signed: a program made a text of a \
            missing value, or of one that it had not unwrapped. Sign \
            the value that the app attaches, or an empty text where it attaches none.
            """
        case .customerLeftOut:
            """
            The signature covers six fields: \(field) was left out together with its separator. Where the app attaches none, the \
            field is empty and both separators stay.
            """
        case .timestampInSeconds:
            "The timestamp is in seconds. Sign and pass milliseconds since 1970."
        case .timestampInMicroseconds:
            "The timestamp is in microseconds, or smaller parts of a second. Sign and pass milliseconds since 1970."
        case .timestampFormat:
            "The signature covers the timestamp in another form of the number. Sign decimal digits alone, without fraction or exponent."
        case .separator:
            "The fields are joined by something else than U+2063 (INVISIBLE SEPARATOR, UTF-8 E2 81 A3): see signedPayload. Join them by that."
        case .textAroundPayload:
            """
            Something stands before or behind the payload that was signed, such as a line end: see signedPayload. Sign the seven \
            fields and the six separators between them, and nothing else.
            """
        case .fieldOrder:
            """
            The fields were signed in another order: see signedPayload. The order is appBundleID, keyID, productIdentifier, offerID, \
            applicationUsername or appAccountToken, nonce, timestamp.
            """
        case .hashedTwice:
            """
            The signature covers a digest of what is to be signed, which was hashed once more. Pass the text itself to the signing \
            function if that hashes, as most do.
            """
        case .keyIDDiffers:
            "The signature was made with the key \(key) and names it; the app passes another keyID. Pass the keyID that came with the signature."
        case .wrongKey:
            """
            The signature was made with the private key that is \(key) here, and the signed text names another key. Name \(key), \
            or sign with the .p8 file of the key that is named.
            """
        case .unknownKeyID:
            "There is no key \(key) here, and the signature verifies with none that is. Ask where that key is, or pass the keyID that came with the signature."
        case .signatureWhiteSpace:
            "There is white space or a line end in the signature. Encode it as base64 on one line."
        case .signaturePlusLost:
            "Every + of the signature has become a space, as a form or a query does. Percent-encode it there, or send it in JSON."
        case .signaturePercentEncoded:
            "The signature is still percent-encoded. Decode it once before it goes to StoreKit."
        case .signatureBase64URL:
            "The signature is in base64url. StoreKit takes standard base64, with + and / and with padding."
        case .signatureUnpadded:
            "The signature lacks the = at its end. StoreKit takes standard base64 with padding."
        case .signatureBase64Twice:
            "The signature is in base64 more than once. Encode the DER bytes once; in StoreKit 2, decode the text from the server before you pass it as Data."
        case .signatureHexadecimal:
            "The signature is in hexadecimal digits. StoreKit takes base64."
        case .signatureRaw:
            "The signature is r and s side by side, 64 bytes, as in a JWS. Here StoreKit takes ASN.1 DER: a SEQUENCE of the two INTEGERs."
        case .signatureNotDER:
            """
            The signature is nearly ASN.1 DER: an INTEGER has a zero too many or too few in front, a length is wrong or longer than \
            it has to be, or something follows the end. Let a library write it, and pass it on whole, without the rest of its buffer.
            """
        case .base64BitsLeft:
            """
            The base64 of \(field) ends in a digit that no encoder writes there, for some of its bits belong to no byte. It was \
            changed or cut off on its way: pass it on as it came.
            """
        case .signatureUnreadable:
            """
            The signature is neither base64 nor hexadecimal digits, or it was cut off. Pass on what the server sent, in standard base64, \
            without quotes or anything in front. A compactJWS goes to StoreKit by itself, and is no signature of this kind.
            """
        case .signatureMalformed:
            """
            The signature decodes, but not to ASN.1 DER of two INTEGERs, and not to r and s of 32 bytes each. It was cut off or changed \
            on its way, or it is no ECDSA P-256 signature.
            """
        case .emptyField:
            "\(field) is empty. Sign and pass the value that App Store Connect has."
        case .forbiddenCharacter:
            "\(field) has a control character, a line separator, or U+2063, which joins the fields of a payload, in it. Remove it."
        case .invisibleCharacter:
            """
            \(field) has a character that cannot be seen, or looks like a space, here or in what was signed: it is written out in \
            payload or signedPayload. Remove it; texts that are copied from a page often have one.
            """
        case .notUUID where field == "iss":
            """
            iss is no UUID of the form 57246542-96fe-1a63-e053-0824d011072a. It is the issuer ID above the In-App Purchase keys in App \
            Store Connect, not the ID of the team.
            """
        case .notUUID:
            "\(field) is no UUID of the form d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10. Make a new one for each signature where it is the nonce."
        case .timestampNotNumber:
            "The timestamp is no whole number, or below zero. Sign and pass milliseconds since 1970, in decimal digits."
        case .customerMissing:
            """
            The signature does not verify, and the app attaches no \(field), or an empty one, which is the commonest reason. Set the \
            value for which the signature was made, on the payment or in the purchase option.
            """
        case .jwsUnreadable:
            """
            compactJWS is not three segments of base64url with a JSON object in each of the first two. Pass it on as it came, whole, \
            without quotes or anything in front. What the server calls signature is another thing.
            """
        case .jwsDuplicateName:
            """
            \(field) has the same member twice in a JSON object, so that two readers may take it for two different things. Write each \
            once.
            """
        case .jwsWhiteSpace:
            "There is white space or a line end in compactJWS. Pass it on as it came, on one line."
        case .jwsPadded:
            "A segment of compactJWS ends in =. Encode each in base64url without padding, before signing."
        case .jwsStandardBase64:
            "A segment of compactJWS has + or /. Encode each in base64url, with - and _ in their places, before signing."
        case .jwsAlgorithm:
            "alg in the header is not ES256, the only one that the App Store takes."
        case .jwsSignatureDER:
            "The signature in compactJWS is ASN.1 DER. A JWS has r and s side by side, 32 bytes each."
        case .jwsSignatureMalformed:
            """
            The signature, the third segment of compactJWS, is not r and s of 32 bytes each in base64url. It was cut off or changed on \
            its way, or it is none of ES256.
            """
        case .jwsSignedOverOtherText:
            """
            The signature covers another text than the first two segments with the dot between them: see signedPayload. Sign the \
            ASCII bytes of header.claims as they are sent.
            """
        case .jwsType:
            "typ in the header is not JWT, which Apple's documentation asks for."
        case .jwsHeader where field == "x5c":
            """
            compactJWS is one that Apple signs, such as a transaction: it has a chain of certificates (x5c). Pass the one that the server \
            signed.
            """
        case .jwsHeader:
            "\(field) in the header asks for another way of reading. A JWS for the App Store has alg, kid and typ there: leave the rest out."
        case .jwsExpiry:
            "The claim exp is there, and the App Store refuses a JWS that has it. Leave it out; many JWT libraries add it by themselves."
        case .jwsAudienceList:
            "The claim aud is a list. It has to be one text."
        case .jwsAudience:
            """
            The claim aud is not the one for this request. It is promotional-offer for one with offerIdentifier, \
            introductory-offer-eligibility for one with allowIntroductoryOffer, advanced-commerce-api for one with request.
            """
        case .jwsIssuedInMilliseconds:
            "The claim iat is in milliseconds. It has to be whole seconds since 1970."
        case .claimMissing:
            "\(field) is missing from compactJWS."
        case .claimEmpty:
            "\(field) in compactJWS is empty or null. Give it its value; only transactionId may be left out, of a promotional offer."
        case .claimType:
            """
            \(field) in compactJWS has the wrong JSON type or form: identifiers are texts, iat is a whole number of seconds in digits \
            alone, allowIntroductoryOffer is true or false, request is a text in base64.
            """
        case .claimDiffers where field == "iss":
            """
            iss in compactJWS is not the issuer ID that is configured here. It is the one above the In-App Purchase keys in App Store \
            Connect, in the team that the key is of.
            """
        case .claimDiffers:
            "\(field) in compactJWS is another than expected. Ask for a JWS with what the app passes to StoreKit."
        case .claimEncoding:
            "\(field) in compactJWS is not a JSON object in standard base64 on one line, with padding."
        case .unexplained:
            """
            The signature does not verify with any key here, and no usual mistake explains it: a field has another value than the one \
            that was signed, another key made it, or it is not over SHA-256. Compare each field with what the server answered.
            """
        }
    }
}
