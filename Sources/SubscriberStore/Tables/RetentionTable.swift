import OfferCore
import OfferEligibility

/// The authorisations that answer requests for a retention message. A request whose authorisation was withdrawn has no
/// answer.
enum RetentionTable {
    /// The numbers under which databases store the forms.
    private static let forms: [OfferSignatureForm: Int64] = [.v1: 1, .v2: 2]

    static func offer(
        for request: UUIDText, _ app: Int64, at now: Timestamp, _ db: any Database
    ) throws -> RememberedRetentionOffer? {
        let row = try db.row(
            """
            SELECT retention_offer.message_id, retention_offer.form, authorisation.*
            FROM retention_offer JOIN authorisation ON authorisation.id = retention_offer.authorisation
            WHERE retention_offer.app = ? AND request_id = ? AND retention_offer.at > ? AND state != 3
            """, [app, request.description, (now - RememberedRetentionOffer.time).milliseconds])
        return try row.map(offer)
    }

    private static func offer(_ row: Row) throws -> RememberedRetentionOffer {
        let number: Int64 = try row["form"]
        guard let form = forms.first(where: { $0.value == number })?.key else { throw StoreError.unreadable("form") }
        guard let message = UUIDText(parsing: Array((try row["message_id"] as String).utf8)) else {
            throw StoreError.unreadable("message_id")
        }
        return RememberedRetentionOffer(
            productID: try row.productID, offerID: try row.offerID, form: form, messageIdentifier: message,
            nonce: try AuthorisationTable.nonce(row), at: try row.requiredTime("at"),
            expiresAt: try row.requiredTime("expires_at"))
    }

    /// - Parameter nonce: the nonce of the authorisation.
    static func add(
        _ form: RetentionReservation.Form, _ nonce: Nonce, for request: UUIDText, at now: Timestamp, _ app: Int64,
        _ db: any Database
    ) throws {
        guard let id = try AuthorisationTable.id(of: nonce, app, db) else {
            throw StoreError(.fault, "nothing was reserved")
        }
        try db.send(
            """
            INSERT INTO retention_offer (app, request_id, authorisation, message_id, form, at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (app, request_id) DO UPDATE
            SET authorisation = excluded.authorisation, message_id = excluded.message_id, form = excluded.form,
                at = excluded.at
            """,
            [
                app, request.description, id, form.messageIdentifier.description, forms[form.signature],
                now.milliseconds,
            ])
    }

    static func prune(before time: Timestamp, _ db: any Database) throws {
        try db.send("DELETE FROM retention_offer WHERE at < ?", [time.milliseconds])
    }
}
