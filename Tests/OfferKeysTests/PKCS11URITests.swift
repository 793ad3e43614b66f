import OfferPKCS11
import Testing

@Suite("PKCS#11 URI")
struct PKCS11URITests {
    @Test("a URI names a token and a key by the attributes that it has")
    func attributes() throws {
        let uri = try PKCS11URI(
            "pkcs11:token=My%20token;manufacturer=M;model=SoftHSM%20v2;serial=0a1b;slot-id=12;object=k(1);id=%01%fF;type=private"
        )
        #expect(uri.token.label == "My token")
        #expect((uri.token.manufacturer, uri.token.model) == ("M", "SoftHSM v2"))
        #expect((uri.token.serial, uri.token.slot) == ("0a1b", 12))
        #expect((uri.key.label, uri.key.identifier) == ("k(1)", [0x01, 0xFF]))
        #expect(
            uri.description
                == "pkcs11:token=My%20token;manufacturer=M;model=SoftHSM%20v2;serial=0a1b;slot-id=12;object=k(1);id=%01%FF"
        )
    }

    @Test(
        "a URI with anything that would be ignored is refused, and a PIN is never quoted",
        arguments: [
            ("http:token=a;object=b", PKCS11URIError.scheme), ("pkcs11:token=a;object", .form),
            ("pkcs11:token=a;object=b c", .encoding), ("pkcs11:token=a;object=%4", .encoding),
            ("pkcs11:token=a;object=%4g", .encoding), ("pkcs11:token=a;token=b;object=c", .duplicate("token")),
            ("pkcs11:token=;object=c", .value("token")), ("pkcs11:token=a;slot-id=-1;object=c", .value("slot-id")),
            ("pkcs11:token=a;object=%FF", .value("object")), ("pkcs11:token=a;object=%0A", .value("object")),
            ("pkcs11:token=a;object=c;type=public", .type), ("pkcs11:token=a;object=c;colour=red", .unknown),
            ("pkcs11:token=a;object=c?pin-value=12345678", .pinValue),
            ("pkcs11:token=a;object=c;pin-value=12345678", .pinValue),
            ("pkcs11:token=a;object=c?pin-source=file:/x", .pinSource),
            ("pkcs11:token=a;object=c?module-path=/x", .module), ("pkcs11:token=a;object=c?x=y", .unknown),
            ("pkcs11:object=c", .noToken), ("pkcs11:token=a", .noKey), ("pkcs11:", .form),
            ("pkcs11:token=a;object=" + String(repeating: "b", count: 1024), .tooLong),
        ])
    func refusals(text: String, error: PKCS11URIError) {
        #expect(throws: error) { try PKCS11URI(text) }
        #expect(!"\(error) \(error.hint)".contains("12345678"))
    }
}
