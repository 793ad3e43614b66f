import OfferCore
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
        try promise("a problem repeats no part of a file", !Marked.isIn(ofVariables) && !Marked.isIn(ofFile))
        if ofFile.isEmpty { try check(file) }

        let (configuration, problems) = Configuration.read(
            flags: Configuration.Flags(), environment: variables, file: file)
        let marked = variables.filter { Marked.isIn($0.key) || Marked.isIn($0.value) }.keys
        if marked.allSatisfy([Settings.privateKey.variable, Settings.tokens.variable].contains) {
            try promise("a problem repeats neither key nor token", !Marked.isIn(problems))
        }
        try promise("the text of a key is never printed", !Marked.isIn("\(configuration.keys.text as Any)"))
        if problems.isEmpty { try check(configuration) }
    }

    private static func check(_ file: ConfigurationFile) throws(BrokenPromise) {
        try promise("a file without problems names apps or callers", file.catalogue != nil || !file.callers.isEmpty)
        try promise("a list of apps has at least one", file.catalogue?.apps.isEmpty != true)
        try promise("each key ID belongs to an app", file.keyIDs.keys.allSatisfy { file.catalogue?.apps[$0] != nil })
        let apps = file.catalogue?.apps.keys.map { $0.text.description.lowercased() } ?? []
        try promise("no two apps differ only in letter case", Set(apps).count == apps.count)
        for caller in file.callers {
            try promise(
                "a caller has a name and a digest", Caller.isName(caller.name) && caller.tokenDigest.count == 32)
            // From year 0 to the start of the last day of year 9999.
            let days = -62_167_219_200_000...253_402_214_400_000 as ClosedRange<Int64>
            try promise(
                "an expiry is the beginning of a day",
                caller.expiry.map { days.contains($0.milliseconds) && $0.milliseconds % 86_400_000 == 0 } ?? true)
        }
    }

    private static func check(_ configuration: Configuration) throws(BrokenPromise) {
        try promise("a port is in range", (0...65535).contains(configuration.address.port))
        let host = configuration.address.host
        try promise(
            "the host is this machine",
            host == "localhost" || host == "::1"
                || host.hasPrefix("127.") && host.split(separator: ".").compactMap { UInt8($0) }.count == 4)
        try promise(
            "a folder's name is one line and not the text of a key",
            !configuration.keys.folder.path.isEmpty && !configuration.keys.folder.path.contains(where: \.isNewline)
                && !configuration.keys.folder.path.contains("-----"))
        let choice = configuration.keys.wanted.choice
        try promise("some key signs", !choice.keyIDs.isEmpty)
        try promise("no retired key signs", configuration.keys.wanted.retired.isDisjoint(with: choice.keyIDs))
        try promise(
            "a key ID can be part of a file's name",
            choice.keyIDs.allSatisfy { id in
                (1...32).contains(id.text.utf8.count)
                    && id.description.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
            })
        try promise("a key given as text signs for all apps", configuration.keys.text == nil || choice.ofAllApps != nil)
        try promise(
            "every app with a key of its own is in the catalogue",
            configuration.catalogue.map { choice.ofApps.keys.allSatisfy($0.apps.keys.contains) } ?? true)
        try promise("no callers share a token", !configuration.callers.shareTokens && !configuration.callers.areTooMany)
    }
}
