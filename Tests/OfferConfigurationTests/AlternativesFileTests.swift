import OfferCore
import OfferEligibility
import Testing

@testable import OfferConfiguration

@Suite("What to show instead of an offer, in the configuration file")
struct AlternativesFileTests {
    private static func read(_ cases: String) -> (cases: [Alternative], problems: [String]) {
        let text = """
            apps:
              - bundleID: com.example.app
                instead: \(cases)
                products: [{productID: pro, offers: [{offerID: back, rule: win_back}]}, {productID: basic, offers: []}]
            """
        let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
        return (file.catalogue?.apps.values.first?.rules.instead ?? [], problems.map { $0.error + " | " + $0.hint })
    }

    @Test("each kind of case is read, and a file with nothing else needs a database")
    func cases() throws {
        let (cases, problems) = Self.read(
            """
            [{rule: loyalty, message: {key: a.b-c_1, text: "Stay!"}}, {rule: loyalty, message: {key: plain}}, \
            {product: basic}, {rule: save, show: update_payment}, {rule: save, show: nothing}, {show: manage_subscriptions}]
            """)
        #expect(problems == [])
        let basic = try ProductID(utf8: Array("basic".utf8))
        #expect(
            cases.map(\.content) == [
                .message(key: "a.b-c_1", text: "Stay!"), .message(key: "plain", text: nil), .product(basic),
                .updatePayment, .nothing, .manageSubscriptions,
            ])
        #expect(cases.map(\.rule?.name) == ["loyalty", "loyalty", nil, "save", "save", nil])
        let only = "apps: [{bundleID: a, products: [], instead: [{show: update_payment}]}]"
        #expect(ConfigurationFile.read(Array(only.utf8), name: "file").file.needsStore)
    }

    @Test(
        "what cannot be meant is refused",
        arguments: [
            ("[]", "the list is empty"), ("[{rule: loyalty}]", "the case shows nothing"),
            ("[{show: nothing, product: basic}]", "the case shows product and show"),
            ("[{show: nothing}, {product: basic}]", "this can never be reached"),
            ("[{product: other}]", "the app has no product"), ("[{show: paywall}]", "is not valid here"),
            ("[{message: {text: a}}]", "has no key"), ("[{message: {key: 'a b'}}]", "not a valid key"),
            ("[{message: {key: a, text: ''}}]", "text of 1 to 1024 bytes"),
            ("[{rule: none, show: nothing}]", "there is no rule"),
            ("[{rule: {share: {of: 0.5, by: s}}, show: nothing}]", "cannot test a sample"),
            ("[{offer: back}]", "has no member"),
        ])
    func refused(cases: String, problem: String) {
        let (_, problems) = Self.read(cases)
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }
}
