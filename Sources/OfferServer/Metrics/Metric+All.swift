/// Every metric of the service. What is not in ``all`` is not kept and not shown.
extension Metric {
    // Requests.
    static let requests = Metric(
        "offer_signer_requests_total", .counter, ["route", "status"],
        "Requests that were answered. The route `other` is any path that there is nothing at, `none` what could not be read as a request."
    )
    static let refusals = Metric(
        "offer_signer_refusals_total", .counter, ["code"],
        "Requests, and offers of a list, that got a problem instead of what they asked for, by its stable code.")
    static let limited = Metric(
        "offer_signer_limited_total", .counter, ["who"],
        "Requests, and offers of a list, that were refused because a limit was reached, by whose it is.")

    // Signatures.
    static let signatures = Metric(
        "offer_signer_signatures_total", .counter, ["kind", "app", "key"],
        "Signatures that were made and verified. The app `other` is any that has neither a place in the configuration file nor a key of its own."
    )
    static let unboundJWS = Metric(
        "offer_signer_unbound_jws_total", .counter, ["app"],
        "JWS for promotional offers without a transaction, which any customer of the app can use.")
    static let selfVerificationFailures = Metric(
        "offer_signer_self_verification_failures_total", .counter, ["key"],
        "Signatures that their own public key refused, and that were not sent.")
    static let signing = Metric(
        "offer_signer_signing_seconds", .histogram, [], "How long it took to make one signature.")
    static let verifying = Metric(
        "offer_signer_verifying_seconds", .histogram, [],
        "How long it took to verify one signature with its own public key, and to read a JWS again.")

    // Keys and the setup.
    static let keyState = Metric(
        "offer_signer_key_state", .gauge, ["key", "state"],
        "1 for the state that a key of the ring is in, 0 for the others.")
    static let ringReloads = Metric(
        "offer_signer_ring_reloads_total", .counter, ["outcome"],
        "How often keys or configuration were read again because they had changed or somebody asked for it: `applied`, or `refused`, and what was in force stayed."
    )
    static let ready = Metric(
        "offer_signer_ready", .gauge, [], "Whether /health/ready answers 200: 1 or 0.")
    static let setupProblems = Metric(
        "offer_signer_setup_problems", .gauge, [],
        "How many problems of the setup /health/ready knows while it signs; it is degraded if there are any.")
    static let clockSteps = Metric(
        "offer_signer_clock_steps_total", .counter, [], "How often the clock was set by more than two seconds.")
    static let certificateExpiry = Metric(
        "offer_signer_certificate_expiry_timestamp_seconds", .gauge, [],
        "When the certificate for TLS expires, in Unix time. Not there without TLS.")

    // Audit.
    static let auditWritable = Metric(
        "offer_signer_audit_writable", .gauge, [],
        "Whether the audit trail can be written: 1 or 0. Not there without one.")
    static let auditFailures = Metric(
        "offer_signer_audit_failures_total", .counter, [], "Entries that could not be written to the audit trail.")
    static let auditLag = Metric(
        "offer_signer_audit_lag_entries", .gauge, [],
        "How many entries of the audit trail wait to be written. Not there without one.")

    // Connections.
    static let connections = Metric(
        "offer_signer_connections", .gauge, [], "Connections that are open.")
    static let connectionsEvicted = Metric(
        "offer_signer_connections_evicted_total", .counter, [],
        "Connections that gave way to new ones because there were as many as there can be.")
    static let tlsHandshakeFailures = Metric(
        "offer_signer_tls_handshake_failures_total", .counter, [],
        "Connections that ended before TLS was agreed on.")

    // The process.
    static let processCPU = Metric(
        "process_cpu_seconds_total", .counter, [], "Time on processors, in user and system mode.")
    static let processMemory = Metric("process_resident_memory_bytes", .gauge, [], "Memory in use.")
    static let processOpenDescriptors = Metric("process_open_fds", .gauge, [], "Descriptors that are open.")
    static let processMaximumDescriptors = Metric(
        "process_max_fds", .gauge, [], "Descriptors that may be open.")
    static let processStart = Metric(
        "process_start_time_seconds", .gauge, [], "When the process began, in Unix time.")
    static let build = Metric(
        "offer_signer_build_info", .gauge, ["version", "swift", "openssl"],
        "1, with the versions of the program, of the compiler that built it and of the OpenSSL that it runs with.")

    package static let all = [
        requests, refusals, limited, signatures, unboundJWS, selfVerificationFailures, signing, verifying, keyState,
        ringReloads, ready, setupProblems, clockSteps, certificateExpiry, auditWritable, auditFailures, auditLag,
        connections,
        connectionsEvicted, tlsHandshakeFailures, processCPU, processMemory,
        processOpenDescriptors, processMaximumDescriptors, processStart, build,
    ]
}
