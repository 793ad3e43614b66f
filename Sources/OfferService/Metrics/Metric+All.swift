package import OfferTelemetry
import SubscriberSync

/// The metrics of the service, except those of synchronisation, which `SubscriberSync` declares. ``all`` lists the
/// metrics that `/metrics` exports, in order.
extension Metric {
    // Requests.
    static let requests = Metric(
        "offer_signer_requests_total", .counter, ["route", "status"],
        "Requests answered. The route `other` is for unknown paths, "
            + "and `none` is for input that could not be parsed as a request.")
    static let refusals = Metric(
        "offer_signer_refusals_total", .counter, ["code"],
        "Requests and offers in lists that were refused or failed, by problem code.")
    static let limited = Metric(
        "offer_signer_limited_total", .counter, ["who"],
        "Requests and offers in lists that exceeded a rate limit, by kind of limit.")

    static let keyedRequests = Metric(
        "offer_signer_keyed_requests_total", .counter, ["outcome"],
        "Requests with an `Idempotency-Key`: `first`, `repeated` with the kept answer, or `taken_over` because the first "
            + "request was not answered in time.")
    static let preflights = Metric(
        "offer_signer_preflights_total", .counter, ["outcome"],
        "Preflight requests of browsers on the routes for apps: `permitted`, or `refused` because the origin is not in "
            + "`SUBSCRIPTION_OFFERS_WEB_ORIGINS`. The log names it.")
    static let grants = Metric(
        "offer_signer_grants_total", .counter, ["act"],
        "Grants of an offer to one customer: `made`, `waiting` for a second person because the budget is used up, "
            + "`approved` or `withdrawn`.")
    static let listedCustomers = Metric(
        "offer_signer_listed_customers_total", .counter, ["list"],
        "Customers that answers and pages of lists named, by list: those who may have an `offer`, and those in the state "
            + "`billing_retry` or `price_increase`.")
    static let purchases = Metric(
        "offer_signer_purchases_total", .counter, ["outcome"],
        "Transactions that `POST /v1/purchases` verified: `stored`, or `not_stored`, which the app must not finish. "
            + "`refused` counts requests instead, whose reasons other counters of refusals have.")
    static let factStatements = Metric(
        "offer_signer_fact_statements_total", .counter, [],
        "Customers about whom `PUT /v1/customers/facts` stored facts, each customer of a list separately.")
    static let shownLinks = Metric(
        "offer_signer_shown_links_total", .counter, ["outcome"],
        "Links of campaigns that requests show: `campaign`, a personal link `claimed` for the first time or `repeated`, and "
            + "those that do not count: `unknown`, `expired`, or those of `another_customer`.")
    static let linkPages = Metric(
        "offer_signer_link_pages_total", .counter, ["kind"],
        "Answers at the address of links: the page of a `campaign`, of a `personal` link, of an `ended` or `unknown` one, "
            + "and the `association` file. Programs that scan mail count too.")
    static let emailUsernames = Metric(
        "offer_signer_email_usernames_total", .counter, [],
        "Offers and decisions whose `applicationUsername` is an e-mail address, where Apple asks for a one-way hash.")

    // Signatures.
    static let signatures = Metric(
        "offer_signer_signatures_total", .counter, ["kind", "app", "key"],
        "Signatures made and verified. The app `other` is for apps that are not in the configuration file and have no separate key."
    )
    static let unboundJWS = Metric(
        "offer_signer_unbound_jws_total", .counter, ["app"],
        "JWS for promotional offers that are not bound to a transaction, so any customer of the app can use them.")
    static let selfVerificationFailures = Metric(
        "offer_signer_self_verification_failures_total", .counter, ["key"],
        "Signatures that failed verification with their own public key and were not sent, and failed self-tests of keys."
    )
    static let signing = Metric(
        "offer_signer_signing_seconds", .histogram, [], "Time to make one signature with a key that is not in a token.")
    static let verifying = Metric(
        "offer_signer_verifying_seconds", .histogram, [],
        "Time to verify one signature with its own public key; for a JWS, including parsing it.")
    static let token = Metric(
        "offer_signer_token_seconds", .histogram, [],
        "Time in which a PKCS#11 token makes one signature. Empty without keys in tokens.")
    static let tokenRefusals = Metric(
        "offer_signer_token_refusals_total", .counter, ["reason"],
        "Signatures that were not made because the queue of a token was `full`, they `waited` in it for a second, or the "
            + "token gave `no_answer`.")
    static let tokenWaiting = Metric(
        "offer_signer_token_waiting", .gauge, [],
        "Signatures that wait for a token. Absent without keys in tokens.")

    // Decisions.
    static let decisions = Metric(
        "offer_signer_decisions_total", .counter, ["app", "environment", "product", "offer", "rule", "reason"],
        "Decisions about offers with a rule: `eligible`, or each reason against it, once. The rule is empty if it has no "
            + "name, and the offer is empty for an introductory offer.")
    static let reservations = Metric(
        "offer_signer_reservations_total", .counter, ["app", "environment", "product", "offer", "outcome"],
        "Results of the ledger for eligible offers: `reserved`, `allowed` if nothing was to be signed, or the first limit "
            + "reached.")
    static let exposures = Metric(
        "offer_signer_exposures_total", .counter, ["app", "environment", "product", "offer", "arm", "channel"],
        "New exposures of customers to offers with a rule. The arm is `offered` or `held_out`, and the offer is empty for "
            + "an introductory offer. A held-out customer whom a limit refuses is counted with each request.")
    static let offerEvents = Metric(
        "offer_signer_offer_events_total", .counter, ["app", "event"],
        "Events that apps reported about offers: `shown`, `dismissed`, `purchased`, `pending` or `failed`.")

    // App Store data.
    static let unansweredCertificates = Metric(
        "offer_signer_ocsp_unanswered_certificates", .gauge, [],
        "Certificates of App Store data that the last OCSP check could not confirm. Absent if OCSP is off.")
    static let revokedCertificates = Metric(
        "offer_signer_revoked_certificates", .gauge, [],
        "Certificates of App Store data that this process knows to be revoked. Absent if OCSP is off.")

    // The database.
    static let storeUp = Metric(
        "offer_signer_store_up", .gauge, [],
        "1 if the database of subscribers works, otherwise 0. Absent without a database.")
    static let storeChanges = Metric(
        "offer_signer_store_changes_total", .counter, [],
        "Changes that this process committed to the database of subscribers.")
    static let storeCommits = Metric(
        "offer_signer_store_commits_total", .counter, [],
        "Transactions in which these changes were committed. Each transaction is synced once.")
    static let storeRoundTrips = Metric(
        "offer_signer_store_round_trips_total", .counter, [],
        "Round trips to PostgreSQL. Statements sent together count once. 0 with SQLite.")

    static let storeRetries = Metric(
        "offer_signer_store_retries_total", .counter, [],
        "Retries of transactions that conflicted with another one, up to four per transaction. 0 with SQLite.")

    // Retention messages.
    static let retentionAnswers = Metric(
        "offer_signer_retention_answers_total", .counter, ["app", "environment", "answer", "rule", "reason"],
        "Retention messages chosen for the App Store, by content: `message`, `alternate_product`, `promotional_offer`, "
            + "`nothing` if no case applies, or `unavailable`. The reason is `rules`, or why the last case was used "
            + "instead. The rule is empty if the case has none.")
    static let retentionRepeats = Metric(
        "offer_signer_retention_repeats_total", .counter, [],
        "Requests for retention messages that repeated an earlier request and got the same answer.")
    static let retentionRecords = Metric(
        "offer_signer_retention_records_total", .counter, ["outcome"],
        "Answers about retention messages that were to be kept for reports: `kept`, or `lost`; the log has the reason.")
    static let retentionDeadlineMisses = Metric(
        "offer_signer_retention_deadline_misses_total", .counter, [],
        "Retention messages that were not decided in time.")
    static let retentionSeconds = Metric(
        "offer_signer_retention_seconds", .histogram, [],
        "Time from the first byte of a request for a retention message to its answer.")

    // Keys and configuration.
    static let keyState = Metric(
        "offer_signer_key_state", .gauge, ["key", "state"],
        "1 for the current state of a key in the ring, 0 for the other states.")
    static let ringReloads = Metric(
        "offer_signer_ring_reloads_total", .counter, ["outcome"],
        "Reloads of keys or configuration, after a change or SIGHUP: "
            + "`applied`, or `refused` if the previous ones stay in force.")
    static let ready = Metric(
        "offer_signer_ready", .gauge, [], "1 if /health/ready answers 200, otherwise 0.")
    static let setupProblems = Metric(
        "offer_signer_setup_problems", .gauge, [],
        "Problems that /health/ready reports. If there are any, the service is degraded at best.")
    static let clockSteps = Metric(
        "offer_signer_clock_steps_total", .counter, [], "Clock changes of more than two seconds.")
    static let certificateExpiry = Metric(
        "offer_signer_certificate_expiry_timestamp_seconds", .gauge, [],
        "Expiry time of the TLS certificate, in Unix time. Absent without TLS.")

    // Audit.
    static let auditWritable = Metric(
        "offer_signer_audit_writable", .gauge, [],
        "1 if the audit trail can be written, otherwise 0. Absent without an audit trail.")
    static let auditFailures = Metric(
        "offer_signer_audit_failures_total", .counter, [], "Entries that could not be written to the audit trail.")
    static let auditLag = Metric(
        "offer_signer_audit_lag_entries", .gauge, [],
        "Entries waiting to be written to the audit trail. Absent without an audit trail.")
    static let auditBreaks = Metric(
        "offer_signer_audit_breaks_total", .counter, [],
        "Times that the audit trail no longer held the last line that the process had written or read.")
    static let auditHeadLine = Metric(
        "offer_signer_audit_head_line", .gauge, [],
        "Number of the last line of the audit trail. Absent without an audit trail.")
    static let auditHeadHash = Metric(
        "offer_signer_audit_head_hash", .gauge, [],
        "First 48 bits of the hash of that line, as a number. Absent without an audit trail.")

    // The console.
    static let consoleSignIns = Metric(
        "offer_signer_console_sign_ins_total", .counter, ["way", "outcome"],
        "Sign-ins to the console, with a `link` or at the identity `provider`: `accepted`, `refused`, or `failed` because "
            + "the provider or the database did not answer.")

    // Connections.
    static let connections = Metric(
        "offer_signer_connections", .gauge, [], "Open connections.")
    static let connectionsEvicted = Metric(
        "offer_signer_connections_evicted_total", .counter, [],
        "Connections closed to make room for new ones at the connection limit.")
    static let connectionsRelieved = Metric(
        "offer_signer_connections_closed_for_memory_total", .counter, [],
        "Connections without a caller's token closed because the memory for requests and responses ran short.")
    static let connectionsRefused = Metric(
        "offer_signer_connections_refused_total", .counter, [],
        "Connections refused because their address had too many, or began too many TLS handshakes.")
    static let memoryUsed = Metric(
        "offer_signer_buffer_bytes", .gauge, [], "Memory used by connections, requests and responses.")
    static let memoryBudget = Metric(
        "offer_signer_buffer_limit_bytes", .gauge, [],
        "Memory limit for connections, requests and responses. Above it, requests get 503.")
    static let tlsHandshakeFailures = Metric(
        "offer_signer_tls_handshake_failures_total", .counter, [],
        "Connections that failed during the TLS handshake.")

    // The process.
    static let processCPU = Metric(
        "process_cpu_seconds_total", .counter, [], "CPU time in user and system mode.")
    static let processMemory = Metric("process_resident_memory_bytes", .gauge, [], "Resident memory.")
    static let processOpenDescriptors = Metric("process_open_fds", .gauge, [], "Open file descriptors.")
    static let processMaximumDescriptors = Metric(
        "process_max_fds", .gauge, [], "Limit on open file descriptors.")
    static let processStart = Metric(
        "process_start_time_seconds", .gauge, [], "Start time of the process, in Unix time.")
    static let build = Metric(
        "offer_signer_build_info", .gauge, ["version", "swift", "openssl"],
        "Always 1, labelled with the versions of the program, its compiler, and the OpenSSL library it runs with.")

    package static let all = [
        requests, refusals, limited, keyedRequests, preflights, grants, listedCustomers, purchases,
        factStatements, shownLinks, linkPages, emailUsernames,
        signatures,
        unboundJWS,
        selfVerificationFailures,
        signing,
        verifying, token, tokenRefusals, tokenWaiting,
        decisions, reservations, exposures, offerEvents, redemptions, redemptionDelay, unexplainedRedemptions,
        appStoreData, appStoreDataRefusals, unansweredCertificates, revokedCertificates, notifications,
        notificationTypes, lastNotification, notificationLag, subscriptions, storeUp, storeChanges, storeCommits,
        storeRoundTrips, storeRetries,
        retentionAnswers, retentionRepeats, retentionRecords, retentionDeadlineMisses, retentionSeconds, apiRequests,
        apiSeconds,
        connectRequests, catalogueFindings, catalogueRead, reports, reviews, oldestReview, events,
        recoveredUntil, subscriptionsDue, forwards, forwardsPending, forwardsDead, oldestForward, keyState,
        ringReloads, ready, setupProblems, clockSteps, certificateExpiry, auditWritable, auditFailures, auditLag,
        auditBreaks, auditHeadLine, auditHeadHash, consoleSignIns, connections,
        connectionsEvicted, connectionsRelieved, connectionsRefused, memoryUsed, memoryBudget, tlsHandshakeFailures,
        processCPU, processMemory,
        processOpenDescriptors, processMaximumDescriptors, processStart, build,
    ]
}
