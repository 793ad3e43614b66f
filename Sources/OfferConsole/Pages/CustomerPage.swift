import OfferCore

extension CustomerView {
    package var html: HTML {
        // The title is in the history of the browser, so it must not name the customer.
        frame.page(
            "Customer", in: .find,
            """
            <p class="back"><a href="/find">← Find another customer</a></p>
            \(header)\(whatIf.notice(address))
            \(subscriptionSection)\(verdictSection)\(grantSection)\(timelineSection)\(ledgerSection)\(exposureSection)
            <div class="columns">\(factSection)\(linkSection)</div>
            """)
    }

    private var header: HTML {
        let pairs = identifiers.html { "<dt>\($0.kind.words)</dt><dd>\(UserText.code($0.value))</dd>\n" }
        let storefront = storefront.map { "<dt>Storefront</dt><dd>\($0)</dd>" as HTML }
        let incomplete: HTML? =
            isComplete
            ? nil
            : Blocks.notice(
                .warning, "This customer has more subscriptions than this page shows.",
                "<p>Use the identifier of one subscription.</p>")
        return """
            <section class="card identity" aria-labelledby="customer"><h1 id="customer">Customer \
            \(Blocks.badge(environment == "Production" ? .accent : .warning, "\(environment)"))</h1>
            <dl class="pairs">\(pairs)<dt>App</dt><dd>\(UserText.code(app))</dd>\(storefront)</dl></section>
            \(incomplete)
            """
    }

    private var subscriptionSection: HTML {
        guard !subscriptions.isEmpty else {
            return Blocks.section(
                "subscriptions", "Subscriptions",
                Blocks.empty(
                    "No subscription is known",
                    """
                    The App Store has reported no purchase of this customer yet. A notification, a proof from the app, or \
                    an order ID makes purchases known.
                    """))
        }
        let states = subscriptions.html { subscription in
            """
            <li class="subscription"><h3>\(UserText.code(subscription.productID)) \(subscription.badge)</h3>
            <ul class="plain">\(subscription.sentences(frame.clock, now: now).html { "<li>\($0)</li>" })</ul>
            <p class="note">Original transaction \(UserText.code(subscription.originalTransactionID))</p></li>

            """
        }
        return Blocks.section(
            "subscriptions", "Subscriptions", count: subscriptions.count,
            "<ul class=\"subscriptions\">\(states)</ul>\(chart?.html)\(periodTable)")
    }

    private var chart: PeriodChart? {
        let rows = subscriptions.map { subscription in
            PeriodChart.Row(
                label: subscription.productID + " · " + subscription.originalTransactionID,
                bars: subscription.periods.map { $0.bar(frame.clock) },
                offers: subscription.periods.filter { $0.offerID != nil && $0.kind != .trial }.map(\.start))
        }
        return PeriodChart(rows, now: now, clock: frame.clock)
    }

    private var periodTable: HTML? {
        let periods = subscriptions.flatMap { subscription in
            subscription.periods.reversed().map { (subscription.originalTransactionID, $0) }
        }
        guard !periods.isEmpty else { return nil }
        let rows = periods.html { original, period in
            Blocks.row([
                UserText.code(period.productID), frame.clock.html(period.start), frame.clock.html(period.end),
                "\(period.kind.words)\(period.offerID.map { " \(UserText.code($0))" as HTML })",
                period.refundedAt.map { frame.clock.html($0) } ?? "–", UserText.code(period.transactionID),
                UserText.code(original),
            ])
        }
        let head: [StaticString] = [
            "Product", "From", "Until", "Price", "Refunded", "Transaction", "Original transaction",
        ]
        return """
            <details><summary>The periods as a table</summary>\(Blocks.table("Periods", head: head, rows: rows))\
            \(CustomerTable.periods.link(self))</details>
            """
    }

    private var verdictSection: HTML {
        let list: HTML =
            verdicts.isEmpty
            ? Blocks.empty("The configuration has no offer with a rule for this app")
            : "<ul class=\"verdicts\">\(sortedVerdicts.html { $0.html(grantedFrom: mayGrant ? address : nil) })</ul>"
        let eligible = verdicts.count { $0.reasons.isEmpty }
        return Blocks.section(
            "offers", "Offers",
            """
            <p class="lead">\(eligible) of \(Words.count(verdicts.count, "offer")) can be redeemed now.</p>
            \(answer?.html)\(whatIf.form(address))\(list)
            """)
    }

    /// The eligible offers first, each in the order of the decision.
    private var sortedVerdicts: [OfferVerdict] {
        verdicts.filter { $0.reasons.isEmpty } + verdicts.filter { !$0.reasons.isEmpty }
    }

    private var grantSection: HTML? {
        guard mayGrant || !grants.isEmpty else { return nil }
        let list = grants.html { $0.html(frame.clock, now: now, back: address, showsCustomer: false) }
        return Blocks.section(
            "grants", "Grants", count: grants.count,
            grants.isEmpty
                ? Blocks.empty("Nothing was granted", "A grant gives one offer to this customer, in place of its rule.")
                : "<ul class=\"grants\">\(list)</ul>")
    }

    private var timelineSection: HTML {
        let link = timeline.entries.isEmpty ? nil : CustomerTable.timeline.link(self)
        return Blocks.section("timeline", "Timeline", "\(timeline.html(frame.clock))\(link)")
    }

    private var factSection: HTML {
        let rows = facts.html { Blocks.row([UserText.code($0.name), UserText.text($0.value)]) }
        return Blocks.section(
            "facts", "Facts", count: facts.count,
            facts.isEmpty
                ? Blocks.empty("No facts are set", "Your backend sets them with <code>PUT /v1/customers/facts</code>.")
                : Blocks.table("Facts", head: ["Name", "Value"], rows: rows))
    }

    private var linkSection: HTML {
        let rows = links.html { link in
            Blocks.row([
                "\(link.identifier.kind.words) \(UserText.code(link.identifier.value))",
                "\(link.account.kind.words) \(UserText.code(link.account.value))",
            ])
        }
        return Blocks.section(
            "links", "Links", count: links.count,
            links.isEmpty
                ? Blocks.empty("No links are set", "The purchases belong to the account that they name.")
                : Blocks.table("Links", head: ["Identifier", "Belongs to"], rows: rows))
    }
}

extension SubscriptionView.Period {
    fileprivate func bar(_ clock: ConsoleClock) -> PeriodChart.Bar {
        let kind: PeriodChart.Bar.Kind =
            switch kind {
            case .regular: .regular
            case .trial: .free
            default: .discounted
            }
        let words = [productID, offerID].compactMap(\.self).joined(separator: ", ")
        return PeriodChart.Bar(
            start: start, end: end, kind: kind, refundedAt: refundedAt,
            text: words + ": " + clock.date(start) + " to " + clock.date(end))
    }
}
