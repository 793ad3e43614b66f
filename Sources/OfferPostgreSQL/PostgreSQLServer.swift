import CPostgreSQL
import Foundation

/// The location of a database and the settings for connecting to it, as libpq reads them from a connection URL.
package struct PostgreSQLServer: Hashable, Sendable {
    /// The URL, which may contain a password.
    private let url: String
    private let isRemote: Bool
    private let namesSSLMode: Bool

    /// - Parameter url: a URL such as `postgresql://offers@db1,db2/offers`. It may contain a password. libpq also reads
    ///   passwords from `~/.pgpass`, a service file or `PGPASSWORD`.
    package init(url: String) throws(PostgreSQLError) {
        if let missing = unsafe offer_pg_load() {
            throw PostgreSQLError(
                state: nil, message: "\(unsafe String(cString: missing)); install the Debian package libpq5")
        }
        guard !url.contains("\0"), !Self.isAmbiguous(url) else { throw Self.invalid }
        self.url = url
        let environment = ProcessInfo.processInfo.environment
        let hosts = try Self.setting("host", of: url) ?? environment["PGHOST"] ?? ""
        // `hostaddr` determines the server to connect to. `host` then only names the expected certificate.
        let addresses = try Self.setting("hostaddr", of: url) ?? environment["PGHOSTADDR"] ?? ""
        let hasService = try (Self.setting("service", of: url) ?? environment["PGSERVICE"]) != nil
        isRemote = hasService || !"\(hosts),\(addresses)".split(separator: ",").allSatisfy { Self.isLocal($0) }
        namesSSLMode = try Self.setting("sslmode", of: url) != nil || environment["PGSSLMODE"] != nil
        // libpq checks the ports only when it connects. Its error shows the invalid port, which may be part of a
        // password that contains a "/".
        let ports = try Self.setting("port", of: url) ?? ""
        guard ports.split(separator: ",").allSatisfy({ (1...65535).contains(Int($0) ?? 0) }) else { throw Self.invalid }
        let passwords = [try Self.setting("password", of: url), try Self.setting("sslpassword", of: url)]
        containsPassword = passwords.contains { $0 != nil }
    }

    /// True if the URL contains a password before the host, or the setting `password` or `sslpassword`.
    package let containsPassword: Bool

    /// The error for an invalid URL. It never quotes any part of the URL, because that part could be a password.
    private static let invalid = PostgreSQLError(
        state: nil,
        message: """
            the URL is invalid; percent-encode special characters, such as %40 for @ and %2F for /, and leave out settings \
            that libpq does not have
            """)

    /// Returns true if another @ follows the user and the password, before the settings. libpq would mistake part of
    /// the password for the host or the database.
    private static func isAmbiguous(_ url: String) -> Bool {
        guard let scheme = url.range(of: "://") else { return true }
        let rest = url[scheme.upperBound...]
        let user = rest.prefix { $0 != "@" && $0 != "/" }
        let place = rest[user.endIndex...].first == "@" ? rest[user.endIndex...].dropFirst() : rest
        return place.prefix { $0 != "?" }.contains("@")
    }

    private static func setting(_ name: String, of url: String) throws(PostgreSQLError) -> String? {
        var isValid = false
        let value = unsafe offer_pg_setting(url, name, &isValid)
        guard isValid else { throw invalid }
        guard let value = unsafe value else { return nil }
        defer { unsafe free(value) }
        return unsafe String(cString: value)
    }

    /// Returns true if a host is this machine: a loopback address or the folder of a socket.
    private static func isLocal(_ host: Substring) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("@") || ["localhost", "127.0.0.1", "::1"].contains(String(host))
    }

    /// The settings of a connection, in order. The URL overrides the settings before it.
    var settings: [(name: String, value: String)] {
        var settings = [
            ("connect_timeout", "3"), ("target_session_attrs", "read-write"), ("keepalives_idle", "5"),
            ("keepalives_interval", "2"), ("keepalives_count", "2"), ("tcp_user_timeout", "8000"),
            ("application_name", "offer-signer"),
        ]
        if isRemote, !namesSSLMode {
            settings.append(("sslmode", "verify-full"))
            // The file in which Debian keeps the certificates of public authorities.
            let roots = "/etc/ssl/certs/ca-certificates.crt"
            if ProcessInfo.processInfo.environment["PGSSLROOTCERT"] == nil,
                FileManager.default.fileExists(atPath: roots)
            {
                settings.append(("sslrootcert", roots))
            }
        }
        return settings + [("dbname", url), ("client_encoding", "UTF8")]
    }
}

extension PostgreSQLServer: CustomStringConvertible, CustomReflectable {
    package var description: String { "a PostgreSQL server" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
