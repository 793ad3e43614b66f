package import OfferCore
package import OfferHTTP
package import SubscriberStore

extension Settings {
    static let subscribersGroup = SettingGroup(
        "Subscribers",
        introduction: """
            These settings control where [subscribers](database.md) are stored, and how [notifications](app-store.md) \
            are received and forwarded.
            """,
        settings: [database, payloadDays, notificationsAddress, retentionDeadline, forwardKey, forwardRoots])

    package static let database = Setting<StoreLocation?>(
        "DATABASE", flag: "database", "Database of subscribers, such as sqlite:data/offer-signer.sqlite",
        details: """
            [The database](database.md) is `sqlite:PATH` or `postgresql://…`. A \
            [password](database.md#postgresql) in it is accepted only from the environment and the environment \
            file. The configuration needs a database if an offer has a rule, a priority or limits, or an app has \
            `introductoryOffers`, `retention`, `instead`, `notifications`, `events`, `sharedSecret`, `ownership` or \
            `freshness`.
            """, default: nil, "sqlite:data/offer-signer.sqlite if the configuration needs one", reload: .onRestart,
        parse: Parse.storeLocation)
    package static let payloadDays = Setting<Int>(
        "PAYLOAD_DAYS", "Days for which notifications are kept as received", details: "From 1 to 3650.", default: 180,
        "180", reload: .onRestart, parse: Parse.days)
    package static let notificationsAddress = Setting<ListeningAddress?>(
        "NOTIFICATIONS_ADDRESS", flag: "notifications-address",
        "Address and port that serve only requests of the App Store, such as 0.0.0.0:8443",
        details: """
            It serves only notifications, requests for [retention messages](retention.md) and `/health/live`. It uses \
            the certificate of the main address if there is one. The main address then receives no notifications.
            """, default: nil, "the main address", reload: .onRestart, parse: Parse.listeningAddress)
    package static let retentionDeadline = Setting<Duration>(
        "RETENTION_DEADLINE_MS", "Milliseconds after which a retention message is answered without a decision",
        details: """
            From 20 to 600. The App Store waits 700 ms for a [retention message](retention.md), including network \
            time.
            """, default: .milliseconds(300), "300", reload: .onRestart, parse: Parse.retentionDeadline)
    package static let forwardKey = Setting<Secret?>(
        "FORWARD_KEY", "Key for the signatures of forwarded notifications",
        details: """
            At least 16 random bytes, for [forwarded notifications](app-store.md#forwarding-to-your-own-backend). \
            Without it, forwarded notifications carry no signature.
            """, default: nil, isSecret: true, reload: .onRestart, parse: Parse.longSecret)
    package static let forwardRoots = Setting<String?>(
        "FORWARD_ROOTS",
        "File or folder of certificates, in PEM or DER, to trust for receivers of forwarded notifications, beside the system's",
        default: nil, reload: .onRestart, parse: Parse.path)
}
