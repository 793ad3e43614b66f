import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferFiles
import OfferReports
import SubscriberStore

/// `offer-signer report`: shows the effect of an offer, or the subscriptions of the app.
struct ReportCommand: AsyncParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument { case html, csv, json }

    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract:
            "Show the effect of an offer, compared with the customers who were held out, or the app's subscriptions.",
        discussion: """
            Reads the customers who were exposed to the offer, even while the service runs, and changes nothing:

              offer-signer report winback_1m --as-of 2026-11-20 > winback.html

            With --subscriptions, it reads all subscriptions of the app instead:

              offer-signer report --subscriptions > subscriptions.html

            With --compare, it lists the days that differ from Apple's Subscription Event report, a file of App Store Connect:

              offer-signer report --subscriptions --time-zone pacific --compare events.txt > differences.html

            The HTML is a file of its own, to open or to mail. The same data and options give the same report, byte for \
            byte. docs/reports.md says what each number means, and when not to believe it.
            """
    )

    @Argument(
        help: "The ID of the offer.",
        transform: { text in
            do { return try OfferID(utf8: Array(text.utf8)) } catch { throw ValidationError("\(error)") }
        })
    var offer: OfferID?

    @Flag(help: "Show how the subscriptions of the app begin, end and last, in place of an offer.")
    var subscriptions = false

    @OptionGroup var selection: ReportSelection
    @Option(
        help: ArgumentHelp(
            "The time up to which data counts, as 2026-11-20 or 2026-11-20T10:00:00Z (default: now).", valueName: "time"
        ))
    var asOf: String?
    @Option(help: "The day after exposure on which the arms are compared (default: 30).") var effectDay: Int?
    @Option(help: "The smallest effect on access worth having, in points of a hundred (default: 3).")
    var smallestEffect: Double?
    @Option(help: "The length of cohorts: week (the default for an offer) or month (that for subscriptions).")
    var cohorts: CohortSpan?
    @Option(help: "The time zone of cohorts: utc or pacific.") var timeZone = ReportZone.utc
    @Option(help: "The output format: html, csv or json.") var format = Format.html
    @Option(
        help: ArgumentHelp(
            "Apple's Subscription Event report, to list the days that differ. Repeat it for several files.",
            valueName: "file"))
    var compare: [String] = []
    @OptionGroup var options: DatabaseOptions

    private var time: Timestamp? { asOf.flatMap(Timestamp.init(dateOrTime:)) }

    func validate() throws {
        if asOf != nil {
            guard let time else {
                throw ValidationError("--as-of must be a date or a time, such as 2026-11-20 or 2026-11-20T10:00:00Z.")
            }
            guard time <= Timestamp(.now) else { throw ValidationError("--as-of must not be in the future.") }
        }
        guard effectDay.map((1...365).contains) ?? true else {
            throw ValidationError("--effect-day must be from 1 to 365.")
        }
        guard smallestEffect.map((0.1...50).contains) ?? true else {
            throw ValidationError("--smallest-effect must be from 0.1 to 50.")
        }
        guard (offer == nil) == subscriptions else {
            throw ValidationError("Name one offer, or else use --subscriptions.")
        }
        let isAboutOffer = effectDay != nil || smallestEffect != nil || selection.isAboutOffer
        guard !subscriptions || !isAboutOffer else {
            throw ValidationError(
                "--effect-day, --smallest-effect, --product-id and --sample do not apply to --subscriptions.")
        }
        guard compare.isEmpty || subscriptions && cohorts == nil else {
            throw ValidationError("--compare needs --subscriptions, and has no --cohorts.")
        }
    }

    func run() async throws {
        IdleProcess.begin()
        let catalogue = try options.configuration().catalogue ?? Catalogue(apps: [:])
        if let offer { try await show(offer, catalogue) } else { try await showSubscriptions(catalogue) }
    }

    private func show(_ offer: OfferID, _ catalogue: Catalogue) async throws {
        let (reported, settings) = try selection.offer(offer, in: catalogue)
        var question = ReportQuestion(about: reported, asOf: time ?? Timestamp(.now), in: catalogue)
        question.effectDay = effectDay ?? question.effectDay
        question.horizon = max(question.horizon, question.effectDay)
        question.smallestEffect = smallestEffect.map { $0 / 100 } ?? question.smallestEffect
        question.span = cohorts ?? question.span
        question.zone = timeZone
        let reader = OfferReportReader(reported, question, settings)
        let report = try await options.withStore { store in
            try await reader.run(over: store)
        }
        switch format {
        case .html: StandardStreams.print(ReportPage(report, version: OfferSignerVersion.text).html.text)
        case .csv: StandardStreams.print(String(decoding: report.csv, as: UTF8.self))
        case .json: StandardStreams.print(String(decoding: report.json, as: UTF8.self) + "\n")
        }
    }

    private func showSubscriptions(_ catalogue: Catalogue) async throws {
        let (app, settings) = try selection.offers.app.app(in: catalogue)
        var question = SubscriptionQuestion(
            about: app, asOf: time ?? Timestamp(.now), zone: timeZone, in: catalogue)
        question.span = cohorts ?? question.span
        let reader = SubscriptionReportReader(app, question, settings)
        guard compare.isEmpty else { return try await showComparison(question, reader) }
        let report = try await options.withStore { store in
            try await reader.run(over: store)
        }
        switch format {
        case .html: StandardStreams.print(SubscriptionReportPage(report, version: OfferSignerVersion.text).html.text)
        case .csv: StandardStreams.print(String(decoding: report.csv, as: UTF8.self))
        case .json: StandardStreams.print(String(decoding: report.json, as: UTF8.self) + "\n")
        }
    }

    private func showComparison(_ question: SubscriptionQuestion, _ reader: SubscriptionReportReader) async throws {
        guard let number = reader.settings.appAppleID else {
            throw CommandError(
                "the app has no appAppleID, and Apple's report names it by that number",
                hint: "copy it from App Store Connect, under App Information")
        }
        let apple = try appleEvents(of: number)
        let days = try await options.withStore { store in
            try await reader.eventDays(over: store)
        }
        let comparison = ReportComparison(question, apple, days)
        switch format {
        case .html: StandardStreams.print(ComparisonPage(comparison, version: OfferSignerVersion.text).html.text)
        case .csv: StandardStreams.print(String(decoding: comparison.csv, as: UTF8.self))
        case .json: StandardStreams.print(String(decoding: comparison.json, as: UTF8.self) + "\n")
        }
    }

    private func appleEvents(of appAppleID: Int64) throws -> AppleEvents {
        var reader = AppleEventReader(appAppleID: appAppleID)
        for path in compare {
            reader.beginFile()
            do throws(LineFileError) {
                try LineFile.read(path) { number, line, _ throws(LineFileError) in
                    do throws(AppleEventReader.Failure) { try reader.read(line, number: number) } catch {
                        throw LineFileError("line \(error.line): \(error.text)")
                    }
                }
            } catch {
                throw CommandError("\(path): \(error)", hint: "name a Subscription Event report of App Store Connect")
            }
        }
        return reader.events
    }
}

extension CohortSpan: ExpressibleByArgument {}
extension ReportZone: ExpressibleByArgument {}
