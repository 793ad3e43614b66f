package import OfferCore
package import OfferHTTP

extension Settings {
    static let listeningGroup = SettingGroup(
        "Listening",
        settings: [
            host, port, metricsAddress, reusePort, tlsCertificate, tlsKey, behindProxy, trustedProxies, webOrigins,
            allowAnyone, bufferMiB,
        ])

    package static let host = Setting<String>(
        "HOST", flag: "host", "Address to listen on",
        details: """
            For any address other than loopback, the service requires TLS or a proxy, callers, and a list of \
            apps: see [deploy.md](deploy.md#serving-other-machines).
            """, default: "127.0.0.1", "127.0.0.1", reload: .onRestart, parse: Parse.text)
    package static let port = Setting<Int>(
        "PORT", flag: "port", "Port to listen on, from 0 to 65535; 0 selects any free port", default: 8080, "8080",
        reload: .onRestart, parse: Parse.port)
    package static let metricsAddress = Setting<ListeningAddress?>(
        "METRICS_ADDRESS", flag: "metrics-address",
        "Address and port that serve only metrics and health, such as 127.0.0.1:9464",
        details: "It serves `/metrics` and `/health/…` without tokens or TLS: see [metrics.md](metrics.md).",
        default: nil, "the main address", reload: .onRestart, parse: Parse.listeningAddress)
    package static let reusePort = Setting<Bool>(
        "REUSE_PORT", flag: "reuse-port", "Let another process listen on the same port",
        details: "See [deploy.md](deploy.md#upgrade).", isSwitch: .onRestart)
    package static let tlsCertificate = Setting<String?>(
        "TLS_CERTIFICATE", flag: "tls-certificate", "PEM file with the certificate chain for TLS",
        details: """
            The chain starts with your own certificate. TLS 1.2 and later are served, with HTTP/1.1 and HTTP/2. \
            Turning TLS on or off takes a restart. By default, HTTP is plain.
            """, default: nil, reload: .onReload, parse: Parse.path)
    package static let tlsKey = Setting<String?>(
        "TLS_KEY", flag: "tls-key", "PEM file with the private key for TLS",
        details: "It is the unencrypted key of the certificate, in a file with mode 0600.", default: nil,
        reload: .onReload, parse: Parse.path)
    package static let behindProxy = Setting<Bool>(
        "BEHIND_PROXY", flag: "behind-proxy",
        "Serve other machines over plain HTTP, because every request passes through a proxy that speaks TLS",
        isSwitch: .onReload)
    package static let trustedProxies = Setting<[TrustedProxies.Network]>(
        "TRUSTED_PROXIES", flag: "trusted-proxies",
        "Addresses and networks of proxies whose X-Forwarded-For is trusted, such as 192.0.2.1,198.51.100.0/28",
        details: "Never include a network that also contains clients.", default: [], reload: .onReload,
        parse: Parse.networks)
    package static let webOrigins = Setting<[WebOrigin]>(
        "WEB_ORIGINS", flag: "web-origins",
        "Origins of web pages and web views that may call the service, such as https://app.example.com,capacitor://localhost",
        details: """
            Browsers let no other origin call the routes for apps: see [client.md](client.md#web-views-and-wrappers). `*` and \
            `null` are refused.
            """, default: [], reload: .onReload, parse: Parse.webOrigins)
    package static let allowAnyone = Setting<Bool>(
        "ALLOW_ANYONE", flag: "allow-anyone", "Serve other machines even if no caller is configured",
        isSwitch: .onReload)
    package static let bufferMiB = Setting<Int>(
        "BUFFER_MIB", "Mebibytes of memory for connections, requests and responses",
        details: """
            From 8 to 1000000. When it runs short, the service closes connections without a valid token, then those of \
            users. When it is used up, requests other than health checks and metrics get 503 with `overloaded`. If you \
            raise it, raise `MemoryMax` of the systemd unit by the same amount. See [Memory](#memory).
            """, default: 64, "64", reload: .onRestart, parse: Parse.mebibytes)
}
