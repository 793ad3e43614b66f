import OfferCore
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
