import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferKeys
import OfferService

extension FuzzTarget {
    /// The configuration readers. The input is an environment file, a line `---`, and a configuration file. An input
    /// without that line is read as both.
    static let configuration = FuzzTarget("configuration") { input throws(BrokenPromise) in
        let line = Array("\n---\n".utf8)
        let parts = input.split(separator: line, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        let (variables, ofVariables) = EnvironmentFile.read(parts[0], name: "env")
        let (file, ofFile) = ConfigurationFile.read(parts[parts.count - 1], name: "yaml")
        try promise(
            "no error message quotes a secret from a file, except from a rule",
            !Marked.isIn(ofVariables) && !Marked.isIn(ofFile.filter { !isAboutRule($0) }))
        if ofFile.isEmpty { try check(file) }

        let (configuration, problems) = Configuration.read(
            flags: Configuration.Flags(), environment: variables, file: file)
        let marked = variables.filter { Marked.isIn($0.key) || Marked.isIn($0.value) }.keys
        if marked.allSatisfy([Settings.privateKey.variable, Settings.tokens.variable].contains) {
            try promise("no error message quotes a key or token", !Marked.isIn(problems))
        }
        try promise("a key's text is never printed", !Marked.isIn("\(configuration.keys.text as Any)"))
        if problems.isEmpty { try check(configuration) }
    }

    /// Returns true if a problem is in a part of the file whose names and values may be quoted: rules, and what refers to
    /// them. A problem begins with the file, the line and the path.
    private static func isAboutRule(_ problem: Diagnostic) -> Bool {
        let path = problem.error.split(separator: ": ", maxSplits: 2).dropFirst().first ?? ""
        let ofApp = [".offers[", ".retention", ".instead", ".introductoryOffers"]
        return path.hasPrefix("rules") || path.hasPrefix("apps[") && ofApp.contains { path.contains($0) }
    }

    private static func check(_ file: ConfigurationFile) throws(BrokenPromise) {
        try promise("a file without problems lists apps or callers", file.catalogue != nil || !file.callers.isEmpty)
        try promise("a list of apps is never empty", file.catalogue?.apps.isEmpty != true)
        try promise("each key ID belongs to an app", file.keyIDs.keys.allSatisfy { file.catalogue?.apps[$0] != nil })
        let apps = file.catalogue?.apps.keys.map { $0.text.description.lowercased() } ?? []
        try promise("no two apps differ only in letter case", Set(apps).count == apps.count)
        for app in file.catalogue?.apps.values.map(\.self) ?? [] { try check(app) }
        for caller in file.callers {
            try promise(
                "every caller has a valid name and a 32-byte digest",
                Caller.isName(caller.name) && caller.tokenDigest.count == 32)
            // From the start of year 0 to the start of the last day of year 9999.
            let days = -62_167_219_200_000...253_402_214_400_000 as ClosedRange<Int64>
            try promise(
                "every expiry is the start of a day",
                caller.expiry.map { days.contains($0.milliseconds) && $0.milliseconds % 86_400_000 == 0 } ?? true)
        }
    }

    private static func check(_ app: Catalogue.App) throws(BrokenPromise) {
        let cases = app.rules.retention
        try promise("an app with retention messages has an Apple ID", cases.isEmpty || app.appAppleID != nil)
        for item in cases {
            switch item.content {
            case .message: continue
            case .alternateProduct(let product, _):
                try promise("another product has a group", app.groups[product] != nil)
            case .promotionalOffer(let offer):
                try promise("an offer that is shown has terms", app.rules.retentionTerms(of: offer) != nil)
            }
        }
        try promise(
            "every case can be reached", !cases.dropLast().contains { $0.isShownToEveryone(in: app.environments) })
    }

    private static func check(_ configuration: Configuration) throws(BrokenPromise) {
        try promise("the port is in range", (0...65535).contains(configuration.address.port))
        let host = configuration.address.host
        try promise(
            "the host is a loopback address",
            host == "localhost" || host == "::1"
                || host.hasPrefix("127.") && host.split(separator: ".").compactMap { UInt8($0) }.count == 4)
        try promise(
            "the key folder's path is one line and not a key's text",
            !configuration.keys.folder.path.isEmpty && !configuration.keys.folder.path.contains(where: \.isNewline)
                && !configuration.keys.folder.path.contains("-----"))
        let choice = configuration.keys.wanted.choice
        try promise("at least one key is chosen to sign", !choice.keyIDs.isEmpty)
        try promise(
            "no retired key is chosen to sign", configuration.keys.wanted.retired.isDisjoint(with: choice.keyIDs))
        try promise(
            "every key ID is safe to use in a file name",
            choice.keyIDs.allSatisfy { id in
                (1...32).contains(id.text.utf8.count)
                    && id.description.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            })
        try promise("a key given as text signs for all apps", configuration.keys.text == nil || choice.ofAllApps != nil)
        try promise(
            "every app with its own key is in the catalogue",
            configuration.catalogue.map { choice.ofApps.keys.allSatisfy($0.apps.keys.contains) } ?? true)
        try promise(
            "no two callers share a token, and there are not too many callers",
            !configuration.callers.shareTokens && !configuration.callers.areTooMany)
    }
}
