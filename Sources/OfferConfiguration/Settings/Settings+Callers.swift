package import OfferCore

extension Settings {
    static let callersGroup = SettingGroup(
        "Callers",
        settings: [configurationFile, environmentFile, tokens, usernameSalt])

    package static let configurationFile = Setting<String?>(
        "CONFIG", flag: "config", "YAML file with apps, their offers, and callers",
        details: "[The configuration file](#the-configuration-file) may have up to 16 MiB.", default: nil,
        reload: .onReload, parse: Parse.path)
    package static let environmentFile = Setting<String?>(
        "ENV_FILE", flag: "env-file", "File of NAME=value lines that override the environment",
        details: """
            [The environment file](#the-environment-file) may have up to 64 KiB. One environment file cannot refer to \
            another.
            """, default: nil, reload: .onRestart, parse: Parse.path)
    package static let tokens = Setting<[Caller]>(
        "API_TOKENS", "Callers with their tokens",
        details: """
            The form is `name=token,name2=token2`. These callers have only the scope `sign`, may sign for all apps, \
            and their tokens never expire. A token has at least 16 characters; `offer-signer tokens new` generates one \
            with 256 random bits. For other scopes, or to store only digests of tokens, use the configuration file. \
            The variable must not be empty. Without any caller, anyone who can reach the service can request \
            signatures; the service [reports](#without-callers) this.
            """, default: [], isSecret: true, refusesEmpty: true, reload: .onReload, parse: Parse.callers)
    package static let usernameSalt = Setting<Secret?>(
        "USERNAME_SALT", "Key for hashing users' usernames",
        details: """
            At least 16 random bytes, for `hashedUsername`. Never change it: every user would become a different \
            customer. An environment file with this variable must have mode 0600.
            """, default: nil, isSecret: true, reload: .onReload, parse: Parse.longSecret)
}
