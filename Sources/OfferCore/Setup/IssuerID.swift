/// The issuer ID of a team: the UUID above the In-App Purchase keys in App Store Connect.
///
/// It is signed in lower case, as App Store Connect shows it. A copy that a tool has put into capitals is the same
/// UUID, but Apple does not say that it is the same issuer.
package struct IssuerID: Hashable, Sendable {
    package let uuid: UUIDText

    package init(utf8: [UInt8], field: String = "issuerID") throws(FieldError) {
        guard let uuid = UUIDText(parsing: utf8) else { throw FieldError(field: field, reason: .notUUID) }
        self.uuid = uuid
    }
}

/// Which issuer stands in the JWS of which app.
package struct IssuerIDs: Hashable, Sendable {
    /// The issuer of every app without its own.
    package let ofAllApps: IssuerID?
    package let ofApps: [BundleID: IssuerID]

    package init(ofAllApps: IssuerID? = nil, ofApps: [BundleID: IssuerID] = [:]) {
        self.ofAllApps = ofAllApps
        self.ofApps = ofApps
    }

    /// - Returns: nil if no JWS can be made for the app.
    package subscript(app: BundleID) -> IssuerID? {
        // Most services have one issuer for all, and need not look.
        (ofApps.isEmpty ? nil : ofApps[app]) ?? ofAllApps
    }
}
