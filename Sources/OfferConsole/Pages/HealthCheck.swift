/// The checks of `/health/ready` in words. The raw values are their names there.
package enum HealthCheck: String, CaseIterable, Sendable {
    case keys, selfTest, audit, clock, catalogue, appStore, appStoreAPI, appStoreConnect, store, notifications, ledger,
        retention

    var title: StaticString {
        switch self {
        case .keys: "Signing keys"
        case .selfTest: "Cryptography"
        case .audit: "Audit trail"
        case .clock: "Clock"
        case .catalogue: "Configuration"
        case .appStore: "App Store certificates"
        case .appStoreAPI: "App Store Server API"
        case .appStoreConnect: "App Store Connect"
        case .store: "Database"
        case .notifications: "Forwarding of notifications"
        case .ledger: "Ledger"
        case .retention: "Retention messages"
        }
    }

    func meaning(_ state: HealthView.State) -> StaticString {
        switch state {
        case .ok: good
        case .off: absent
        case .degraded: degraded
        case .failed: failed
        }
    }

    private var good: StaticString {
        switch self {
        case .keys: "Every configured key can sign."
        case .selfTest: "The known-answer tests of the last minute passed."
        case .audit: "Lines are written before each answer, and none is missing."
        case .clock: "The clock is plausible, and has not jumped."
        case .catalogue: "The newest configuration is in force."
        case .appStore: "Signed data is checked against Apple’s roots."
        case .appStoreAPI: "The App Store answers the service’s requests."
        case .appStoreConnect: "The catalogue agrees with App Store Connect."
        case .store: "The last change succeeded."
        case .notifications: "All receivers accept notifications."
        case .ledger: "Every redemption has a signature of this service."
        case .retention: "Messages are chosen by the rules, in time."
        }
    }

    private var absent: StaticString {
        switch self {
        case .audit: "No audit trail is configured."
        case .catalogue: "No app is configured."
        case .appStoreAPI: "The service sends no requests to the App Store."
        case .appStoreConnect: "No key for App Store Connect is configured."
        case .store, .notifications: "No database is configured."
        case .ledger: "No offer has a rule, or there is no database."
        case .retention: "No app has cases for retention messages."
        case .keys, .selfTest, .clock, .appStore: "There is nothing to check."
        }
    }

    private var degraded: StaticString {
        switch self {
        case .keys:
            "A key file is invalid, a configured key is missing, or the disk or a token hangs. The other keys sign."
        case .audit: "The trail can be written, but its file has a fault, or lines are gone."
        case .clock: "The clock jumped by more than two seconds within the last ten minutes."
        case .catalogue: "A newer configuration was rejected or waits for its keys. The older one is in force."
        case .appStore: "Other roots than Apple’s are trusted, or no OCSP responder could answer about a certificate."
        case .appStoreAPI: "The App Store does not answer, or refuses the key. Everything else works."
        case .appStoreConnect:
            "The catalogue differs from App Store Connect, or App Store Connect cannot be read. Signing works."
        case .store: "The database cannot be opened, or its last change failed. Decisions get 503."
        case .notifications: "A receiver has not accepted notifications for more than an hour."
        case .ledger: "An offer was redeemed without a signature of this service. Somebody else may hold a key."
        case .retention: "More than one message in fifty was chosen without the rules in the last ten minutes."
        case .selfTest: "A known-answer test needs attention."
        }
    }

    private var failed: StaticString {
        switch self {
        case .keys:
            "A configured key cannot sign: its file or token fails, the token refused the PIN, or a signature did not verify."
        case .selfTest: "A known-answer test failed. Nothing is signed until the process restarts."
        case .audit: "The trail cannot be written, so nothing is signed."
        case .clock: "The clock shows a time before this version was built, so nothing is signed."
        case .catalogue, .appStore, .appStoreAPI, .appStoreConnect, .store, .notifications, .ledger, .retention:
            degraded
        }
    }

    /// What to do if the check is degraded or failed. The details are in docs/incidents.md.
    var action: StaticString {
        switch self {
        case .keys:
            """
            Run <code>offer-signer doctor</code>. After a refused PIN, correct the PIN file, and run \
            <code>offer-signer keys check --try-pin</code> once. If a token hangs, repair its device or server. If a \
            signature did not verify, start the service on another machine.
            """
        case .selfTest: "Suspect memory, processor or libcrypto. Start the service on another machine."
        case .audit: "Free the disk, or correct the file’s permissions. Writing resumes by itself."
        case .clock: "Correct the time with NTP or chrony. Signing resumes by itself."
        case .catalogue: "Run <code>offer-signer rules check</code>, correct the file, and send SIGHUP."
        case .appStore:
            "Remove <code>SUBSCRIPTION_OFFERS_APP_STORE_ROOTS</code> in production, and allow requests to Apple’s OCSP."
        case .appStoreAPI: "Check the key ID and the issuer ID, and whether the machine reaches the App Store."
        case .appStoreConnect:
            "Correct the offers named under Findings, in App Store Connect or in the configuration file."
        case .store: "Check the disk, or the connection to PostgreSQL. The service reconnects by itself."
        case .notifications: "Check the receiver. The service repeats the notifications until it accepts them."
        case .ledger: #"Investigate the <a href="/alarms">alarms</a>, and acknowledge each of them."#
        case .retention: "Look for a slow database or an overloaded machine."
        }
    }
}
