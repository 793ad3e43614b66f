/// The person who is signed in.
package struct ConsolePerson: Sendable {
    let name: String
    let roles: [ConsoleRole]

    package init(name: String, roles: [ConsoleRole]) {
        self.name = name
        self.roles = roles
    }

    func may(open section: ConsoleSection) -> Bool { section.roles.contains(where: roles.contains) }
}

/// What surrounds every page: the header with the navigation, and the footer.
///
/// Actions: `POST /sign-out` without fields; `POST /clock` with `offset` in minutes and `return`, the address of the
/// page.
package struct PageFrame: Sendable {
    /// nil without a session. The page then has no navigation.
    let person: ConsolePerson?
    let clock: ConsoleClock
    let version: String
    /// The address of the page, to return to after a choice of the offset; nil if the page answers a form.
    let address: PageAddress?

    package init(person: ConsolePerson?, clock: ConsoleClock, version: String, address: PageAddress? = nil) {
        self.person = person
        self.clock = clock
        self.version = version
        self.address = address
    }

    /// - Parameters:
    ///   - title: may contain user text; it is cut to 80 bytes.
    ///   - section: the current section; nil if the page belongs to none.
    func page(_ title: String, in section: ConsoleSection? = nil, _ main: HTML) -> HTML {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <title>\(UserText.short(title, bytes: 80)) – Subscription Offers</title>
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta name="robots" content="noindex">
        <link rel="icon" type="image/svg+xml" href="/favicon.svg">
        <link rel="stylesheet" href="/console.css">
        </head>
        <body>
        <a class="skip" href="#main">Skip to content</a>
        \(header(section))<main id="main" tabindex="-1">
        \(main)
        </main>
        \(footer)</body>
        </html>

        """
    }

    private func header(_ section: ConsoleSection?) -> HTML {
        """
        <header class="top"><div class="bar">
        <a class="brand" href="/">\(Icon.brand)Subscription Offers</a>
        \(person.map { navigation($0, section) })\(person.map(account))</div></header>

        """
    }

    private func navigation(_ person: ConsolePerson, _ current: ConsoleSection?) -> HTML {
        let items = ConsoleSection.allCases.filter(person.may).html { section in
            let mark: HTML = section == current ? #" aria-current="page""# : ""
            return #"<li><a href="\#(section.address)"\#(mark)>\#(section.title)</a></li>"#
        }
        return #"<nav aria-label="Sections"><ul>\#(items)</ul></nav>"#
    }

    private func account(_ person: ConsolePerson) -> HTML {
        let roles = ConsoleRole.allCases.filter(person.roles.contains).map(\.words).joined(separator: ", ")
        return """
            <form class="account" method="post" action="/sign-out">
            <span class="person"><b>\(UserText.text(person.name))</b> <span class="roles">\(roles)</span></span>
            <button class="quiet">Sign out</button></form>
            """
    }

    private var footer: HTML {
        """
        <footer><div class="bar">
        <p>offer-signer \(version)</p>
        <p>Times are in \(clock.name).</p>
        \(address.flatMap { person == nil ? nil : clockForm($0) })</div></footer>

        """
    }

    private func clockForm(_ address: PageAddress) -> HTML {
        let options = ConsoleClock.offsets.compactMap { ConsoleClock(offsetMinutes: $0) }.html { choice in
            Form.option(String(choice.offsetMinutes), choice.name, isSelected: choice == clock)
        }
        return """
            <details class="clock"><summary>Change the offset</summary>
            <form method="post" action="/clock"><input type="hidden" name="return" value="\(address)">
            <label for="offset">Offset from UTC</label> <select id="offset" name="offset">\(options)</select>
            <button class="quiet">Apply</button></form></details>

            """
    }
}
