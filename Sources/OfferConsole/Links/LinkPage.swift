/// The page of a campaign's link, for a browser on a device without the app, or where the link did not open the app. It is in
/// the app's name, has no script, and loads nothing.
package struct LinkPage: Sendable {
    package let appName: String
    /// The app's Apple ID, for the link to the App Store; nil if it is unknown.
    package let appAppleID: Int64?
    package let kind: Kind

    package enum Kind: Sendable {
        case offer(Offer)
        /// The campaign is over, or the link has expired.
        case ended
        /// This is no link of the app, or it cannot be said whose it is.
        case unknown
    }

    package struct Offer: Sendable {
        /// Each is nil for the usual words.
        package let title: String?
        package let text: String?
        package let button: String?
        package let language: String
        /// The terms of the offer; nil if they are unknown.
        package let terms: String?
        package let isPersonal: Bool
        /// The address of the page, for the banner that opens the app; nil if it is unknown.
        package let address: String?

        package init(
            title: String?, text: String?, button: String?, language: String, terms: String?, isPersonal: Bool,
            address: String?
        ) {
            self.title = title
            self.text = text
            self.button = button
            self.language = language
            self.terms = terms
            self.isPersonal = isPersonal
            self.address = address
        }
    }

    package init(appName: String, appAppleID: Int64?, _ kind: Kind) {
        self.appName = appName
        self.appAppleID = appAppleID
        self.kind = kind
    }

    package var html: HTML {
        """
        <!doctype html>
        <html lang="\(language)">
        <head>
        <meta charset="utf-8">
        <title>\(title) – \(appName)</title>
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="robots" content="noindex">
        \(banner)<style>\(Self.style)</style>
        </head>
        <body>
        <main>
        <p class="app">\(appName)</p>
        <h1>\(title)</h1>
        \(content)\(button)</main>
        </body>
        </html>

        """
    }

    private var language: String {
        if case .offer(let offer) = kind { offer.language } else { "en" }
    }

    private var title: String {
        switch kind {
        case .offer(let offer): offer.title ?? "An offer for you"
        case .ended: "This offer has ended"
        case .unknown: "This link is not valid"
        }
    }

    private var content: HTML {
        switch kind {
        case .offer(let offer):
            """
            \(offer.text.map { text -> HTML in "<p>\(text)</p>\n" })\
            \(offer.terms.map { terms -> HTML in "<p class=\"terms\">\(terms)</p>\n" })\
            \(usualText(offer))
            """
        case .ended: "<p>Open the app to see what it offers you today.</p>\n"
        case .unknown: "<p>Check that the whole address was copied. Open the app to see what it offers you.</p>\n"
        }
    }

    private func usualText(_ offer: Offer) -> HTML? {
        guard offer.text == nil else { return nil }
        let personal: HTML? = offer.isPersonal ? " It was made for you and works only for you." : nil
        return """
            <p>Open this link on a device that has the app. The offer appears in the app.\(personal)</p>

            """
    }

    private var button: HTML? {
        guard let appAppleID else { return nil }
        var words = "Get the app on the App Store"
        if case .offer(let offer) = kind, let button = offer.button { words = button }
        return "<p><a class=\"button\" href=\"https://apps.apple.com/app/id\(appAppleID)\">\(words)</a></p>\n"
    }

    /// Safari's banner, which opens the app with the link.
    private var banner: HTML? {
        guard let appAppleID, case .offer(let offer) = kind, let address = offer.address else { return nil }
        let content: String = "app-id=\(appAppleID), app-argument=\(address)"
        return """
            <meta name="apple-itunes-app" content="\(content)">

            """
    }

    /// The style sheet of the page, for its hash in `Content-Security-Policy`.
    package static let styleText: [UInt8] = style.utf8

    private static let style: HTML = """
        :root{color-scheme:light dark;--page:#f5f6f8;--card:#fff;--text:#1a2230;--muted:#545e70;--accent:#2a59d0;--on:#fff}\
        @media(prefers-color-scheme:dark){:root{--page:#10141a;--card:#181d25;--text:#e3e7ee;--muted:#a4aebd;\
        --accent:#8fb1ff;--on:#0d1526}}\
        *{box-sizing:border-box}\
        body{margin:0;min-height:100vh;display:flex;align-items:center;justify-content:center;padding:1rem;\
        background:var(--page);color:var(--text);overflow-wrap:anywhere;\
        font:1.0625rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}\
        main{width:100%;max-width:28rem;padding:2rem 1.5rem;border-radius:1rem;background:var(--card);text-align:center}\
        h1{margin:0 0 1rem;font-size:1.625rem;line-height:1.2;font-weight:650}\
        p{margin:0 0 1rem;white-space:pre-line}\
        .app{color:var(--muted);font-weight:600}\
        .terms{font-weight:600}\
        .button{display:inline-block;min-height:2.75rem;padding:.625rem 1.25rem;border-radius:.75rem;\
        border:1px solid var(--accent);background:var(--accent);color:var(--on);font-weight:600;text-decoration:none}\
        .button:focus-visible{outline:3px solid var(--text);outline-offset:2px}\
        @media(forced-colors:active){.button{background:Canvas;color:LinkText;border-color:LinkText}}\
        @media print{body{display:block}}
        """
}
