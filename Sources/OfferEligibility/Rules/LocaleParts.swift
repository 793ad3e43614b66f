import OfferCore

/// The language, script and region at the start of a locale, in lower case.
///
/// The tables are from CLDR 45 (`likelySubtags`, `parentLocales` and `languageMatching`). They cover the App Store's
/// languages that have more than one script or regional standard.
struct LocaleParts {
    private let language: String
    private let script: String?
    private let region: String?

    /// The number of parts that were read.
    var count: Int { 1 + (script == nil ? 0 : 1) + (region == nil ? 0 : 1) }

    /// - Parameter parts: the parts of a locale.
    /// - Returns: nil if they do not begin with a language of two or three letters.
    init?(_ parts: [Substring]) {
        guard let first = parts.first, (2...3).contains(first.utf8.count), Self.isLetters(first) else {
            return nil
        }
        var rest = parts.dropFirst()
        language = String(first)
        script = rest.first.flatMap { $0.utf8.count == 4 && Self.isLetters($0) ? String($0) : nil }
        if script != nil { rest = rest.dropFirst() }
        region = rest.first.flatMap { Self.isRegion($0) ? String($0) : nil }
    }

    private init(language: String, script: String?, region: String?) {
        (self.language, self.script, self.region) = (language, script, region)
    }

    /// Returns true for two letters, or for three digits such as 419 (Latin America).
    private static func isRegion(_ part: Substring) -> Bool {
        part.utf8.count == 2 && isLetters(part)
            || part.utf8.count == 3 && part.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    }

    /// Returns true if a lowercase part contains only ASCII letters.
    private static func isLetters(_ part: Substring) -> Bool {
        part.utf8.allSatisfy((UInt8(ascii: "a")...UInt8(ascii: "z")).contains)
    }

    /// The locales to look up, best first: the region, regions with the same standard, the script and the language.
    /// The locales of a closely related language follow. The list may contain duplicates.
    var chain: [String] {
        chainOfLanguage
            + (Self.relatives[language].map {
                LocaleParts(language: $0, script: script, region: region).chainOfLanguage
            } ?? [])
    }

    private var chainOfLanguage: [String] {
        let script = script ?? Self.likelyScript(language, region)
        var chain: [String] = []
        var next = region
        while let region = next {
            chain += spellings(script, region)
            next = Self.parents["\(language)-\(region)"]
        }
        if let script {
            chain.append("\(language)-\(script)")
            if let region = Self.likelyRegions["\(language)-\(script)"] { chain += spellings(script, region) }
        }
        return chain + [language]
    }

    /// Returns a locale with its script, and also without it if the region implies the script.
    private func spellings(_ script: String?, _ region: String) -> [String] {
        guard let script else { return ["\(language)-\(region)"] }
        let isImplied = Self.likelyScript(language, region) == script
        return ["\(language)-\(script)-\(region)"] + (isImplied ? ["\(language)-\(region)"] : [])
    }

    // MARK: CLDR

    /// - Returns: nil for a language with one script.
    private static func likelyScript(_ language: String, _ region: String?) -> String? {
        region.flatMap { scriptsOfRegions["\(language)-\($0)"] } ?? scripts[language]
    }

    /// `likelySubtags`: the default script of a language.
    private static let scripts = ["zh": "hans", "sr": "cyrl", "uz": "latn", "az": "latn", "pa": "guru"]

    /// `likelySubtags`: the script of a language in regions that do not use its default script.
    private static let scriptsOfRegions: [String: String] = {
        let regions: [String: (script: String, regions: [String])] = [
            "zh": (
                "hant",
                ["au", "bn", "gb", "gf", "hk", "id", "mo", "pa", "pf", "ph", "sr", "th", "tw", "us", "vn"]
            ),
            "sr": ("latn", ["me", "ro", "tr"]), "pa": ("arab", ["pk"]),
        ]
        return Dictionary(
            uniqueKeysWithValues: regions.flatMap { language, scripted in
                scripted.regions.map { ("\(language)-\($0)", scripted.script) }
            })
    }()

    /// `likelySubtags`: the default region of a language in a certain script.
    private static let likelyRegions = [
        "zh-hans": "cn", "zh-hant": "tw", "sr-cyrl": "rs", "sr-latn": "rs", "uz-latn": "uz", "az-latn": "az",
        "pa-guru": "in", "pa-arab": "pk",
    ]

    /// `parentLocales`: the region whose standard a region follows.
    private static let parents: [String: String] = {
        let children = [
            "es-419": [
                "ar", "bo", "br", "bz", "cl", "co", "cr", "cu", "do", "ec", "gt", "hn", "mx", "ni", "pa", "pe", "pr",
                "py", "sv", "us", "uy", "ve",
            ],
            "pt-pt": ["ao", "ch", "cv", "fr", "gq", "gw", "lu", "mo", "mz", "st", "tl"], "zh-hk": ["mo"],
        ]
        return Dictionary(
            uniqueKeysWithValues: children.flatMap { parent, regions in
                let parts = parent.split(separator: "-").map(String.init)
                return regions.map { ("\(parts[0])-\($0)", parts[1]) }
            })
    }()

    /// `parentLocales` and `languageMatching`: Bokmål and Nynorsk are Norwegian, and Norwegian is usually Bokmål.
    private static let relatives = ["nb": "no", "nn": "no", "no": "nb"]
}
