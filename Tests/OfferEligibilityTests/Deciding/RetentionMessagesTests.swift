import OfferCore
import OfferEligibility
import Testing

@Suite("The message for a locale")
struct RetentionMessagesTests {
    private static let exact = UUIDText(high: 1, low: 1)
    private static let script = UUIDText(high: 1, low: 2)
    private static let language = UUIDText(high: 1, low: 3)
    private static let otherwise = UUIDText(high: 1, low: 4)

    private static let localized = RetentionMessages.Localized(
        byLocale: [
            RetentionLocale("zh-Hans-CN"): exact, RetentionLocale("zh_Hans"): script, RetentionLocale("ZH"): language,
        ], otherwise: otherwise)

    @Test(
        "the exact locale, then its language, then the default; case and separator make no difference",
        arguments: [
            ("zh-Hans-CN", exact), ("zh_hans_cn", exact), ("ZH-HANS-CN", exact), ("zh-Hans-SG", script),
            ("zh-Hans", script), ("zh-Hant-TW", language), ("zh", language), ("ZH_", language), ("zhe", otherwise),
            ("de-CH", otherwise), ("", otherwise), ("-", otherwise), ("zh-Hans-CN-x-private", exact),
        ])
    func matching(locale: String, expected: UUIDText) {
        let messages = RetentionMessages(otherwise: Self.localized)
        #expect(messages.identifier(for: RetentionLocale(locale), in: .production) == expected)
    }

    @Test(
        "a customer gets the message in their script and standard, whichever way the locales are spelled",
        arguments: [
            // Chinese: the region implies the script, and the script a region.
            ("zh-CN", ["zh-Hans", "zh-Hant"], "zh-Hans"), ("zh-SG", ["zh-Hans", "zh-Hant"], "zh-Hans"),
            ("zh-MY", ["zh-Hans", "zh-Hant"], "zh-Hans"), ("zh", ["zh-Hant", "zh-Hans"], "zh-Hans"),
            ("zh-TW", ["zh-Hans", "zh-Hant"], "zh-Hant"), ("zh-HK", ["zh-Hans", "zh-Hant"], "zh-Hant"),
            ("zh-MO", ["zh-Hans", "zh-Hant"], "zh-Hant"), ("zh_TW", ["zh_Hans", "zh_Hant"], "zh_Hant"),
            ("ZH_hk", ["zh-HANS", "zh-hant"], "zh-hant"), ("zh-TW-x-private", ["zh-Hans", "zh-Hant"], "zh-Hant"),
            ("zh-Hant-HK", ["zh-Hans", "zh-Hant"], "zh-Hant"), ("zh-Hant-CN", ["zh-CN", "zh-TW"], "zh-TW"),
            ("zh-Hans-TW", ["zh-CN", "zh-TW"], "zh-CN"), ("zh-Hant-TW", ["zh-CN", "zh-TW"], "zh-TW"),
            ("zh-Hans", ["zh-TW", "zh-CN"], "zh-CN"), ("zh-Hant", ["zh-TW", "zh-CN"], "zh-TW"),
            ("zh-Hans-SG", ["zh-TW", "zh-CN"], "zh-CN"), ("zh-SG", ["zh-TW", "zh-CN"], "zh-CN"),
            ("zh-HK", ["zh-CN", "zh-TW", "zh-HK"], "zh-HK"), ("zh-HK", ["zh-CN", "zh-TW"], "zh-TW"),
            ("zh-MO", ["zh-TW", "zh-HK"], "zh-HK"), ("zh-Hant-MO", ["zh-Hant", "zh-Hant-HK"], "zh-Hant-HK"),
            ("zh-MO", ["zh-Hant-TW", "zh-Hant-HK"], "zh-Hant-HK"), ("zh-TW", ["zh-Hant-HK", "zh-Hans"], nil),
            ("zh-HK", ["zh-Hant-HK", "zh-Hant"], "zh-Hant-HK"), ("zh-Hant-HK", ["zh-HK", "zh-Hant"], "zh-HK"),
            ("zh-TW", ["zh-Hans", "zh-CN"], nil), ("zh-CN", ["zh-Hant", "zh-TW"], nil),
            ("zh-TW", ["zh-Hans", "zh"], "zh"), ("zh-TW", ["zh", "zh-Hant"], "zh-Hant"), ("zhe-TW", ["zh-Hant"], nil),
            // Other languages with two scripts.
            ("sr-RS", ["sr-Latn", "sr-Cyrl"], "sr-Cyrl"), ("sr-ME", ["sr-Latn", "sr-Cyrl"], "sr-Latn"),
            ("sr-Latn", ["sr-RS"], nil), ("sr-Latn-RS", ["sr-RS", "sr-Latn"], "sr-Latn"),
            ("sr-RS", ["sr-Latn"], nil), ("sr-Cyrl-RS", ["sr-RS", "sr"], "sr-RS"), ("pa-PK", ["pa-Guru"], nil),
            // Regions with a common standard.
            ("es-MX", ["es-ES", "es-419", "es"], "es-419"), ("es-AR", ["es-419", "es"], "es-419"),
            ("es-MX", ["es-MX", "es-419"], "es-MX"), ("es-ES", ["es-419", "es"], "es"), ("es-ES", ["es-419"], nil),
            ("pt-AO", ["pt-BR", "pt-PT"], "pt-PT"), ("pt-BR", ["pt-PT", "pt"], "pt"), ("pt-PT", ["pt-BR"], nil),
            // Norwegian.
            ("nb-NO", ["no"], "no"), ("nn-NO", ["no", "nb"], "no"), ("no", ["nb"], "nb"), ("no-NO", ["nb-NO"], "nb-NO"),
            ("nb-NO", ["nn", "no"], "no"), ("nb", ["nn"], nil), ("nb_NO", ["no", "nb"], "nb"),
        ] as [(String, [String], String?)])
    func scripts(locale: String, named: [String], expected: String?) throws {
        let ids = Dictionary(
            uniqueKeysWithValues: named.enumerated().map { ($1, UUIDText(high: 2, low: UInt64($0))) })
        let byLocale = Dictionary(uniqueKeysWithValues: ids.map { (RetentionLocale($0), $1) })
        let messages = RetentionMessages(otherwise: .init(byLocale: byLocale, otherwise: Self.otherwise))
        let found = messages.identifier(for: RetentionLocale(locale), in: .production)
        #expect(found == expected.map { ids[$0] } ?? Self.otherwise)
    }

    @Test("the locale itself comes first, then its spellings and parents, then its language")
    func order() {
        #expect(
            RetentionLocale("zh_MO").fromExactToLanguage.map(\.text) == [
                "zh-mo", "zh-hant-mo", "zh-hant-hk", "zh-hk", "zh-hant", "zh-hant-tw", "zh-tw", "zh",
            ])
        #expect(RetentionLocale("de-AT-1996").fromExactToLanguage.map(\.text) == ["de-at-1996", "de-at", "de"])
        #expect(RetentionLocale("-a").fromExactToLanguage.map(\.text) == ["-a", ""])
    }

    @Test("without a default, other locales have no message")
    func withoutDefault() {
        let messages = RetentionMessages(
            otherwise: .init(byLocale: [RetentionLocale("de"): Self.language], otherwise: nil))
        #expect(messages.identifier(for: RetentionLocale("de-AT"), in: .production) == Self.language)
        #expect(messages.identifier(for: RetentionLocale("fr-FR"), in: .production) == nil)
        #expect(!messages.coversEveryLocale(in: .production))
    }

    @Test("an environment has its own messages, and none of another's")
    func environments() {
        let messages = RetentionMessages(byEnvironment: [.sandbox: Self.localized])
        #expect(messages.identifier(for: RetentionLocale("zh"), in: .sandbox) == Self.language)
        #expect(messages.identifier(for: RetentionLocale("zh"), in: .production) == nil)
    }
}
