package import Logging
package import OfferAudit
package import OfferCore
package import OfferTelemetry

extension Settings {
    static let recordingGroup = SettingGroup(
        "Recording",
        settings: [auditLog, auditKey, auditSync, auditRotateMB, auditChain, auditAddresses, logLevel, logFormat])

    package static let auditLog = Setting<String?>(
        "AUDIT_LOG", flag: "audit-log", "File of the audit trail, which records every signature",
        details: """
            The [audit trail](audit.md) can be a regular file, a pipe or a device. Each signature is recorded before \
            it is sent. The next five settings require this one. By default, there is no trail.
            """, default: nil, reload: .onRestart, parse: Parse.path)
    package static let auditKey = Setting<Secret?>(
        "AUDIT_KEY", "Key for the codes that represent customers in the audit trail",
        details: """
            At least 16 random bytes, for HMAC-SHA-256. An environment file with this variable must have mode \
            0600.
            """, default: nil, "a new random key at each start", isSecret: true, reload: .onRestart,
        parse: Parse.longSecret)
    package static let auditSync = Setting<Bool>(
        "AUDIT_SYNC", "Sync the audit trail to disk before responses are sent",
        details: "By default, lines are only passed to the kernel before the response is sent.", isSwitch: .onRestart)
    package static let auditRotateMB = Setting<Int64?>(
        "AUDIT_ROTATE_MB", "Size in megabytes at which the audit trail is rotated",
        details: """
            From 1 to 1000000, in units of 1,000,000 bytes. At that size, the file is renamed and a new one is started.
            """, default: nil, "never", reload: .onRestart, parse: Parse.megabytes)
    package static let auditChain = Setting<AuditSettings.Chain>(
        "AUDIT_CHAIN", "How audit lines are linked: sha256 or hmac",
        details: """
            Anyone can compute `sha256`. [Only holders of the audit \
            key](audit.md#lines-that-only-holders-of-the-audit-key-can-write) can compute and verify `hmac`, \
            which requires that key.
            """, default: .sha256, "sha256", reload: .onRestart, parse: Parse.choice)
    package static let auditAddresses = Setting<AuditSettings.Addresses>(
        "AUDIT_ADDRESSES", "Form of clients' addresses in the audit trail: hmac, plain or off",
        details: "`hmac` records them as codes, like customers.", default: .hmac, "hmac", reload: .onRestart,
        parse: Parse.choice)
    package static let logLevel = Setting<Logger.Level>(
        "LOG_LEVEL", flag: "log-level",
        "Least severe level to log: trace, debug, info, notice, warning, error or critical", default: .info, "info",
        reload: .onReload, parse: Parse.choice)
    package static let logFormat = Setting<LogFormat>(
        "LOG_FORMAT", flag: "log-format", "Format of log lines: text or json", default: .text, "text",
        reload: .onRestart, parse: Parse.choice)
}
