import OfferCore

/// The names that frameworks for React Native, Flutter and Capacitor give to the values of an offer.
///
/// An app in such a framework can send its arguments unchanged. Findings name the fields as this service does. docs/client.md lists
/// the names with their sources.
enum FrameworkNames {
    private static let ownNames = [
        "identifier": "offerID", "offerId": "offerID", "offerIdentifier": "offerID", "id": "offerID",
        "keyIdentifier": "keyID", "keyId": "keyID", "key": "keyID", "productId": "productID", "sku": "productID",
        "bundleId": "bundleID", "applicationUserName": "applicationUsername", "jws": "compactJWS",
    ]

    /// Objects whose members are values of the offer.
    private static let containers: Set<String> = ["withOffer", "promotionalOffer", "promotionalOfferJWS", "discount"]

    /// Returns the members under this service's own names, with those of the containers among them.
    /// - Throws: `.conflicting` if a value is given twice, for example as `offerID` and as `identifier`.
    static func translated(_ members: JSONObject) throws(MemberError) -> JSONObject {
        var translated = JSONObject()
        try add(members, to: &translated)
        return translated
    }

    private static func add(_ members: JSONObject, to translated: inout JSONObject) throws(MemberError) {
        for member in members.members {
            let name = String(decoding: member.name, as: UTF8.self)
            switch member.value {
            case .object(let inner) where containers.contains(name): try add(inner, to: &translated)
            case .null where containers.contains(name): break
            case .object(let inner) where name == "signature":
                try add(name, .object(try self.translated(inner)), to: &translated)
            default: try add(name, member.value, to: &translated)
            }
        }
    }

    private static func add(
        _ name: String, _ value: JSONValue, to translated: inout JSONObject
    ) throws(MemberError) {
        let own = ownNames[name] ?? name
        guard translated.add(Array(own.utf8), value) else { throw .conflicting(own, name) }
    }
}
