import CPostgreSQL
import Foundation

/// Where a database is and how to connect to it, as libpq reads it from a connection URL.
package struct PostgreSQLServer: Hashable, Sendable {
    /// The URL. It contains no password.
    package let url: String
    private let isRemote: Bool
    private let namesSSLMode: Bool

    /// - Parameter url: such as `postgresql://offers@db1,db2/offers`. The password belongs elsewhere: into the file `~/.pgpass`, a
    ///   service file or `PGPASSWORD`.
    package init(url: String) throws(PostgreSQLError) {
        if let missing = unsafe offer_pg_load() {
            throw PostgreSQLError(
                state: nil, message: "\(unsafe String(cString: missing)); install the Debian package libpq5")
        }
        guard !url.contains("\0") else { throw Self.invalid }
        guard try Self.setting("password", of: url) == nil, try Self.setting("sslpassword", of: url) == nil else {
            throw PostgreSQLError(
                state: nil,
                message:
                    "the URL contains a password; put it into a password file (PGPASSFILE), a service file or PGPASSWORD"
            )
        }
        self.url = url
        let environment = ProcessInfo.processInfo.environment
        let hosts = try Self.setting("host", of: url) ?? environment["PGHOST"] ?? ""
        // It says where to connect, and the host then only says whose certificate is expected.
        let addresses = try Self.setting("hostaddr", of: url) ?? environment["PGHOSTADDR"] ?? ""
        let hasService = try (Self.setting("service", of: url) ?? environment["PGSERVICE"]) != nil
        isRemote = hasService || !"\(hosts),\(addresses)".split(separator: ",").allSatisfy { Self.isLocal($0) }
        namesSSLMode = try Self.setting("sslmode", of: url) != nil || environment["PGSSLMODE"] != nil
    }

    private static let invalid = PostgreSQLError(state: nil, message: "the URL is invalid")

    private static func setting(_ name: String, of url: String) throws(PostgreSQLError) -> String? {
        var isValid = false
        let value = unsafe offer_pg_setting(url, name, &isValid)
        guard isValid else { throw invalid }
        guard let value = unsafe value else { return nil }
        defer { unsafe free(value) }
        return unsafe String(cString: value)
    }

    /// Whether a host is this machine: its loopback address, or the folder of a socket.
    private static func isLocal(_ host: Substring) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("@") || ["localhost", "127.0.0.1", "::1"].contains(String(host))
    }

    /// The settings of a connection, each with its value. What the URL says wins over those before it.
    var settings: [(name: String, value: String)] {
        var settings = [
            ("connect_timeout", "3"), ("target_session_attrs", "read-write"), ("keepalives_idle", "5"),
            ("keepalives_interval", "2"), ("keepalives_count", "2"), ("tcp_user_timeout", "8000"),
            ("application_name", "offer-signer"),
        ]
        if isRemote, !namesSSLMode {
            settings.append(("sslmode", "verify-full"))
            // Where Debian keeps the certificates of the public authorities.
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
