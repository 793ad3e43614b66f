/// The page of a request that was refused or failed. It says what to do.
package final class ErrorView: Sendable {
    package enum Problem: Sendable {
        /// 400. A sentence about the request, which names the field and not its text.
        case badRequest(String)
        /// 403. The roles of which one is needed.
        case forbidden([ConsoleRole])
        /// 403. The form came from another site.
        case otherOrigin
        case notFound
        /// 405. The address has no page, or no form, of this kind.
        case wrongMethod
        /// 421. The request names another host.
        case otherHost
        /// 429.
        case tooManyRequests(retryAfterSeconds: Int)
        /// 503.
        case unavailable(requestID: String)
        /// 500.
        case failed(requestID: String)
    }

    let frame: PageFrame
    let problem: Problem

    package init(frame: PageFrame, _ problem: Problem) {
        self.frame = frame
        self.problem = problem
    }

    package var status: Int {
        switch problem {
        case .badRequest: 400
        case .forbidden, .otherOrigin: 403
        case .notFound: 404
        case .wrongMethod: 405
        case .otherHost: 421
        case .tooManyRequests: 429
        case .unavailable: 503
        case .failed: 500
        }
    }

    package var html: HTML {
        let (title, text) = words
        let start: HTML? =
            frame.person == nil
            ? #"<p><a class="button" href="/sign-in">Sign in</a></p>"#
            : #"<p><a class="button" href="/">Start page</a></p>"#
        return frame.page(
            title,
            """
            <div class="narrow"><section class="card error"><p class="status">Error \(status)</p><h1>\(title)</h1>
            \(text)\(start)</section></div>
            """)
    }

    private var words: (title: String, text: HTML) {
        switch problem {
        case .badRequest(let sentence):
            ("The request is invalid", "<p>\(sentence) Nothing was changed.</p><p>Go back, and correct the form.</p>")
        case .forbidden(let roles): ("You may not open this page", Self.roleText(roles))
        case .otherOrigin:
            (
                "The form was not sent by this console",
                """
                <p>Nothing was changed. Open the page from the navigation, and send the form again.</p><p class="note">If \
                a mail or another site led you here, tell an operator.</p>
                """
            )
        case .notFound:
            (
                "There is no such page",
                "<p>The address is wrong, or what it showed no longer exists. A customer may have been erased.</p>"
            )
        case .wrongMethod:
            ("The address is only for a form", "<p>Nothing was changed. Open the page from the navigation.</p>")
        case .otherHost:
            (
                "The console has another address",
                "<p>Use the address in the setting of its URL. An operator knows it.</p>"
            )
        case .tooManyRequests(let seconds):
            (
                "Too many requests",
                "<p>Wait \(Words.count(seconds, "second")), then load the page again. Nothing was changed.</p>"
            )
        case .unavailable(let requestID):
            (
                "The service is not available",
                """
                <p>The database or the audit trail does not answer. Nothing was changed. Try again in a minute.</p>
                \(Self.reference(requestID))
                """
            )
        case .failed(let requestID):
            ("The request failed", "<p>This is a fault of the service. Try again.</p>\n\(Self.reference(requestID))")
        }
    }

    private static func roleText(_ roles: [ConsoleRole]) -> HTML {
        let names = ConsoleRole.allCases.filter(roles.contains).html { "<b>\($0.words)</b>" }
        let list = names.enumerated().html { $0.offset == 0 ? $0.element : " or \($0.element)" }
        return """
            <p>It needs the role \(list). Ask the person who manages access in your team, then sign out and sign in \
            again.</p>
            """
    }

    private static func reference(_ requestID: String) -> HTML {
        """
        <p class="note">If it happens again, give an operator the request ID \(UserText.code(requestID)). It is in the \
        log.</p>
        """
    }
}
