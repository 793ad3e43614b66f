/// The issuer ID of a team: the UUID shown above the In-App Purchase keys in App Store Connect.
///
/// It is signed in lower case, as App Store Connect shows it. The upper-case form is the same UUID, but Apple does not
/// promise to treat it as the same issuer.
package struct IssuerID: Hashable, Sendable {
    package let uuid: UUIDText

    package init(utf8: [UInt8], field: String = "issuerID") throws(FieldError) {
        guard let uuid = UUIDText(parsing: utf8) else { throw FieldError(field: field, reason: .notUUID) }
        self.uuid = uuid
    }
}

/// The issuer IDs used in each app's JWS.
package struct IssuerIDs: Hashable, Sendable {
    /// The issuer for apps that are not in ``ofApps``.
    package let ofAllApps: IssuerID?
    package let ofApps: [BundleID: IssuerID]

    package init(ofAllApps: IssuerID? = nil, ofApps: [BundleID: IssuerID] = [:]) {
        self.ofAllApps = ofAllApps
        self.ofApps = ofApps
    }

    /// The issuer for `app`; nil if no JWS can be made for it.
    package subscript(app: BundleID) -> IssuerID? {
        // Most services have one issuer for all apps and skip the lookup.
        (ofApps.isEmpty ? nil : ofApps[app]) ?? ofAllApps
    }
}
