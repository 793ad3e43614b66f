import OfferCore

// The numbers of plots and tables for spreadsheets. Times are in UTC, as RFC 3339 writes them.

extension CSV.Cell {
    fileprivate init(_ time: Timestamp?) { self.init(time.map(ConsoleClock.machineText)) }
}

extension OffersView {
    /// The numbers of the plot: a line for each day, in UTC.
    package var csvText: String {
        var table = CSV(head: ["day", "signed", "redeemed"])
        for day in days {
            table.add([.text(ConsoleClock.utc.date(day.start)), .number(day.signed), .number(day.redeemed)])
        }
        return table.text
    }
}

/// The tables of a customer's page that can be downloaded. The raw values are those of the field `table`.
package enum CustomerTable: String, CaseIterable, Sendable {
    case periods, timeline, ledger

    /// The tables are about the whole history, not only the open page of the timeline.
    package func csv(of view: CustomerView, timeline: [TimelineView.Entry]) -> String {
        switch self {
        case .periods: view.periodCSV
        case .timeline: Self.csv(of: timeline)
        case .ledger: view.ledgerCSV
        }
    }

    private static func csv(of timeline: [TimelineView.Entry]) -> String {
        var table = CSV(head: ["time", "kind", "what"])
        for entry in timeline {
            table.add([CSV.Cell(entry.at), .text(entry.kind.words.description), .text(entry.sentence)])
        }
        return table.text
    }

    /// The link to the table.
    func link(_ view: CustomerView) -> HTML {
        #"<p class="download"><a href="\#(view.download(self))">\#(words)</a></p>"#
    }

    private var words: StaticString {
        switch self {
        case .periods: "Download the periods as CSV"
        case .timeline: "Download the timeline as CSV"
        case .ledger: "Download the ledger as CSV"
        }
    }
}

extension CustomerView {
    fileprivate func download(_ table: CustomerTable) -> PageAddress {
        address.query.reduce(PageAddress("/customer.csv")) { $0.with($1.name, $1.value) }.with("table", table.rawValue)
    }

    fileprivate var periodCSV: String {
        var table = CSV(head: [
            "productID", "from", "until", "price", "offerID", "refunded", "transactionID", "originalTransactionID",
        ])
        for subscription in subscriptions {
            for period in subscription.periods.reversed() {
                table.add([
                    .text(period.productID), CSV.Cell(period.start), CSV.Cell(period.end),
                    .text(period.kind.words.description), CSV.Cell(period.offerID), CSV.Cell(period.refundedAt),
                    .text(period.transactionID), .text(subscription.originalTransactionID),
                ])
            }
        }
        return table.text
    }

    fileprivate var ledgerCSV: String {
        var table = CSV(head: [
            "record", "offerID", "productID", "state", "time", "expires", "rule", "channel", "transactionID",
        ])
        for line in authorisations {
            table.add([
                .text("signed"), .text(line.offerID), .text(line.productID), .text(line.state.name), CSV.Cell(line.at),
                CSV.Cell(line.expiresAt), CSV.Cell(line.source.rule), CSV.Cell(line.source.channel), .empty,
            ])
        }
        for line in redemptions {
            let state = line.isAuthorised.map { $0 ? "signature of this service" : "no known signature" }
            table.add([
                .text("redeemed"), .text(line.offerID), .text(line.productID), CSV.Cell(state), CSV.Cell(line.at),
                .empty, .empty, .empty, CSV.Cell(line.transactionID),
            ])
        }
        return table.text
    }
}

extension CustomerView.Authorisation.State {
    fileprivate var name: String {
        switch self {
        case .outstanding: "outstanding"
        case .redeemed: "redeemed"
        case .expired: "expired"
        case .withdrawn: "withdrawn"
        }
    }
}
