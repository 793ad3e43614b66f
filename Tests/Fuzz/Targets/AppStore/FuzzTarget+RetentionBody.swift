import OfferEligibility
import OfferService
import SubscriberSync

extension FuzzTarget {
    /// The reader of the App Store's requests for retention messages. The input is a body; after the word `locale`, it is the
    /// customer's locale.
    static let retentionBody = FuzzTarget("retention-body") { input throws(BrokenPromise) in
        let marker = Array("locale ".utf8)
        if input.starts(with: marker) {
            return try check(locale: String(decoding: input.dropFirst(marker.count), as: UTF8.self))
        }
        let text: [UInt8]
        do throws(NotificationBodyError) { text = try NotificationBody.signedPayload(in: input) } catch {
            let problem = Problem(error)
            try promise("a refusal is the sender's fault", problem.status == 400)
            return try promise("a refusal never quotes the data", !Marked.isIn(problem.detail))
        }
        try promise("a payload is part of the body", text.count <= input.count)
    }

    private static func check(locale text: String) throws(BrokenPromise) {
        let locale = RetentionLocale(text)
        let chain = locale.fromExactToLanguage
        try promise("the exact locale comes first", chain.first == locale)
        try promise("no locale is looked for twice", Set(chain).count == chain.count)
        try promise(
            "the chain is short",
            chain.count <= locale.text.split(separator: "-", omittingEmptySubsequences: false).count + 16)
        try promise("reading a locale again changes nothing", RetentionLocale(locale.text) == locale)
    }
}
