/// `GET /sign-in`: how to sign in, and why the person is asked to.
package final class SignInView: Sendable {
    /// The raw values are those of the query.
    package enum Reason: String, CaseIterable, Sendable {
        case signedOut = "signed_out"
        /// The session reached its age or was idle for too long.
        case expired
        /// An operator ended the session.
        case ended
        /// The link was used before, or is older than five minutes.
        case badLink = "bad_link"
        /// The identity provider refused, or its answer was not valid. The log has the reason.
        case refusedByProvider = "refused"
    }

    /// An identity provider to sign in with.
    package final class Provider: Sendable {
        let name: String
        /// A page that redirects to the provider. It is a link: `form-action 'self'` would block the redirect of a form.
        let start: PageAddress

        package init(name: String, start: PageAddress) {
            self.name = name
            self.start = start
        }
    }

    let frame: PageFrame
    let reason: Reason?
    /// nil if sign-in is only by link.
    let provider: Provider?

    package init(frame: PageFrame, reason: Reason? = nil, provider: Provider? = nil) {
        self.frame = frame
        self.reason = reason
        self.provider = provider
    }

    package var html: HTML {
        frame.page(
            "Sign in",
            """
            <div class="narrow">\(reason.map(\.notice))<section class="card"><h1>Sign in</h1>
            \(provider.map(providerBlock) ?? Self.linkBlock)</section></div>
            """)
    }

    private func providerBlock(_ provider: Provider) -> HTML {
        """
        <p>Your account decides what you can see and do here.</p>
        <p><a class="button primary" href="\(provider.start)">Sign in with \(UserText.text(provider.name))</a></p>
        """
    }

    private static let linkBlock: HTML = """
        <p>Open a sign-in link. An operator makes one on the machine of the service:</p>
        <pre class="command" tabindex="0" role="region" aria-label="Command"><code>offer-signer console sign-in \
        --name NAME --role support</code></pre>
        <p class="note">The link works once, within five minutes. The roles are support, marketing, operator and \
        auditor.</p>
        """
}

extension SignInView.Reason {
    fileprivate var notice: HTML {
        switch self {
        case .signedOut:
            Blocks.notice(.success, "You are signed out.", "<p>Close the window if others use this computer.</p>")
        case .expired:
            Blocks.notice(
                .information, "Your session has expired.",
                "<p>A session ends after 30 minutes without a request, and after eight hours at most.</p>")
        case .ended:
            Blocks.notice(.warning, "An operator has ended your session.", "<p>Ask them before you sign in again.</p>")
        case .badLink:
            Blocks.notice(
                .problem, "This sign-in link is invalid.",
                "<p>It was used before, or is older than five minutes. Ask for a new one.</p>")
        case .refusedByProvider:
            Blocks.notice(
                .problem, "The sign-in failed.",
                """
                <p>The identity provider refused, or your account has no role here. Try again. If it fails again, an \
                operator finds the reason in the log.</p>
                """)
        }
    }
}

/// `GET /sign-in/link`: a page with a button, because a mail scanner that opens the link must not use it up.
///
/// Action: `POST /sign-in/link` with `token`.
package final class SignInLinkView: Sendable {
    let frame: PageFrame
    let token: String
    let name: String

    package init(frame: PageFrame, token: String, name: String) {
        self.frame = frame
        self.token = token
        self.name = name
    }

    package var html: HTML {
        frame.page(
            "Sign in",
            """
            <div class="narrow"><section class="card"><h1>Sign in as \(UserText.text(name))</h1>
            <p>The link works once.</p>
            <form method="post" action="/sign-in/link"><input type="hidden" name="token" value="\(token)">
            <button class="primary">Sign in</button></form></section></div>
            """)
    }
}
