import OfferCore

/// The building blocks of pages.
enum Blocks {
    /// A part of a page with a heading.
    /// - Parameter id: unique in the page.
    static func section(_ id: StaticString, _ title: HTML, count: Int? = nil, _ content: HTML) -> HTML {
        let count: HTML? = count.map { #" <span class="count">\#(Words.grouped(Int64($0)))</span>"# }
        return """
            <section class="card" aria-labelledby="\(id)"><h2 id="\(id)">\(title)\(count)</h2>
            \(content)
            </section>

            """
    }

    /// A table that scrolls in its own region if it is wider than the page.
    /// - Parameters:
    ///   - name: the name of the region, unique in the page.
    ///   - head: the `<th>` cells.
    ///   - rows: the `<tr>` rows.
    static func table(_ name: StaticString, head: [StaticString], rows: [HTML], class kind: StaticString = "") -> HTML {
        """
        <div class="scroll" role="region" aria-label="\(name)" tabindex="0"><table class="\(kind)">
        <thead><tr>\(head.html { #"<th scope="col">\#($0)</th>"# })</tr></thead>
        <tbody>
        \(rows)</tbody></table></div>
        """
    }

    static func row(_ cells: [HTML]) -> HTML { "<tr>\(cells.html { "<td>\($0)</td>" })</tr>\n" }

    /// The state of an empty list: what there would be, and what would bring it.
    static func empty(_ title: StaticString, _ text: StaticString? = nil) -> HTML {
        #"<div class="empty"><p><b>\#(title)</b></p>\#(text.map { "<p>\($0)</p>" })</div>"#
    }

    /// A message above the content of a page.
    static func notice(_ kind: NoticeKind, _ title: HTML, _ text: HTML? = nil) -> HTML {
        """
        <div class="notice \(kind.name)" role="\(kind.role)">\(kind.icon)<div><p class="notice-title">\(title)</p>\
        \(text)</div></div>

        """
    }

    enum NoticeKind {
        case information, success, warning, problem

        fileprivate var name: StaticString {
            switch self {
            case .information: "information"
            case .success: "success"
            case .warning: "warning"
            case .problem: "problem"
            }
        }

        fileprivate var role: StaticString { self == .problem ? "alert" : "note" }

        fileprivate var icon: HTML {
            switch self {
            case .information: Icon.information
            case .success: Icon.tick
            case .warning, .problem: Icon.warning
            }
        }
    }

    /// A state as a word with a shape, so that it does not depend on colour.
    static func badge(_ tone: Tone, _ text: HTML) -> HTML {
        #"<span class="badge \#(tone.name)">\#(text)</span>"#
    }

    enum Tone {
        case good, warning, bad, neutral, accent

        fileprivate var name: StaticString {
            switch self {
            case .good: "good"
            case .warning: "warn"
            case .bad: "bad"
            case .neutral: "neutral"
            case .accent: "accent"
            }
        }
    }

    /// Links to the pages of a list.
    static func pages(newer: PageAddress?, older: PageAddress?) -> HTML? {
        guard newer != nil || older != nil else { return nil }
        return """
            <nav class="pages" aria-label="Pages">\(newer.map { #"<a rel="prev" href="\#($0)">← Newer</a>"# })\
            \(older.map { #"<a rel="next" href="\#($0)">Older →</a>"# })</nav>
            """
    }
}

extension ConsoleClock {
    /// A time to the minute.
    func html(_ time: Timestamp) -> HTML {
        #"<time datetime="\#(Self.machineText(time))">\#(minute(time))</time>"#
    }

    /// A time to the minute, and its distance from now.
    func html(_ time: Timestamp, now: Timestamp) -> HTML {
        #"\#(html(time)) <span class="note">(\#(RelativeTime.words(time, now: now)))</span>"#
    }
}
