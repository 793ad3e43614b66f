package import OfferCore

/// `GET /deliveries`: what waits for the team's own receivers of events and notifications, and what they did not accept.
///
/// Action: `POST /deliveries/retry`, without fields.
package final class DeliveriesView: Sendable {
    package final class Receiver: Sendable {
        /// The URL without its path, which may be secret.
        let name: String
        /// The data that it gets, such as `events of com.example.app`; empty if it is no longer configured.
        let contents: [String]
        let waiting: Int
        /// nil if nothing waits.
        let oldestWaiting: Timestamp?
        let deadLetters: Int
        /// The last delivery of this process; nil for none since it started.
        let lastDelivery: Timestamp?
        /// The failed attempts of this process.
        let failures: Int

        package init(
            name: String, contents: [String], waiting: Int, oldestWaiting: Timestamp?, deadLetters: Int,
            lastDelivery: Timestamp?, failures: Int
        ) {
            self.name = name
            self.contents = contents
            self.waiting = waiting
            self.oldestWaiting = oldestWaiting
            self.deadLetters = deadLetters
            self.lastDelivery = lastDelivery
            self.failures = failures
        }
    }

    package final class DeadLetter: Sendable {
        let at: Timestamp
        let receiver: String
        /// The type of the notification or the event.
        let content: String
        let id: String
        /// The failed attempts of all processes.
        let attempts: Int

        package init(at: Timestamp, receiver: String, content: String, id: String, attempts: Int) {
            self.at = at
            self.receiver = receiver
            self.content = content
            self.id = id
            self.attempts = attempts
        }
    }

    let frame: PageFrame
    let now: Timestamp
    let receivers: [Receiver]
    /// The oldest first.
    let deadLetters: [DeadLetter]

    package init(frame: PageFrame, now: Timestamp, receivers: [Receiver], deadLetters: [DeadLetter]) {
        self.frame = frame
        self.now = now
        self.receivers = receivers
        self.deadLetters = deadLetters
    }

    package var html: HTML {
        frame.page("Deliveries", in: .deliveries, "<h1>Deliveries</h1>\n\(receiverList)\(letterList)")
    }

    private var receiverList: HTML {
        guard !receivers.isEmpty else {
            return Blocks.empty("No receivers", "No app has receivers of events or notifications.")
        }
        let rows = receivers.html(row)
        let head: [StaticString] = [
            "Receiver", "Gets", "Waiting", "Since", "Last success", "Failed attempts", "Dead letters",
        ]
        return Blocks.section(
            "receivers", "Receivers", count: receivers.count,
            """
            \(Blocks.table("Receivers", head: head, rows: rows))\
            <p class="note">The last success and the failed attempts are those of this process since its start.</p>
            """)
    }

    private func row(_ receiver: Receiver) -> HTML {
        let contents: HTML =
            receiver.contents.isEmpty
            ? "no longer configured" : "\(receiver.contents.html { "\(UserText.text($0))<br>" })"
        let (waiting, failures): (HTML, HTML) = (number(receiver.waiting), number(receiver.failures))
        let oldest: HTML = receiver.oldestWaiting.map { frame.clock.html($0, now: now) } ?? ""
        let last: HTML = receiver.lastDelivery.map { frame.clock.html($0, now: now) } ?? "none"
        return Blocks.row([
            UserText.code(receiver.name), contents, waiting, oldest, last, failures, number(receiver.deadLetters),
        ])
    }

    private func number(_ count: Int) -> HTML { #"<span class="number">\#(count)</span>"# }

    private var letterList: HTML? {
        let count = receivers.map(\.deadLetters).reduce(0, +)
        guard count > 0 else { return nil }
        let rows = deadLetters.html { letter in
            Blocks.row([
                frame.clock.html(letter.at), UserText.code(letter.receiver), UserText.code(letter.content),
                UserText.code(letter.id), number(letter.attempts),
            ])
        }
        let first: HTML? =
            deadLetters.count < count ? #"<p class="note">These are the first \#(deadLetters.count).</p>"# : nil
        return Blocks.section(
            "dead-letters", "Dead letters", count: count,
            """
            <p>No receiver has accepted these for three days. Find out why before you send them again: each one is \
            then tried for three more days.</p>
            <form method="post" action="/deliveries/retry"><button>Send all of them again</button></form>
            \(Blocks.table("Dead letters", head: ["Given up", "Receiver", "Content", "ID", "Attempts"], rows: rows))\(first)
            """)
    }
}
