import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferReports
import SubscriberStore

/// `offer-signer report`: shows the effect of an offer.
struct ReportCommand: AsyncParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument { case html, csv, json }

    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Show the effect of an offer, compared with the customers who were held out.",
        discussion: """
            Reads the customers who were exposed to the offer, even while the service runs, and changes nothing:

              offer-signer report winback_1m --as-of 2026-11-20 > winback.html

            The HTML is a file of its own, to open or to mail. The same data and options give the same report, byte for \
            byte. docs/reports.md says what each number means, and when not to believe it.
            """
    )

    @Argument(
        help: "The ID of the offer.",
        transform: { text in
            do { return try OfferID(utf8: Array(text.utf8)) } catch { throw ValidationError("\(error)") }
        })
    var offer: OfferID

    @OptionGroup var selection: ReportSelection
    @Option(
        help: ArgumentHelp(
            "The time up to which data counts, as 2026-11-20 or 2026-11-20T10:00:00Z (default: now).", valueName: "time"
        ))
    var asOf: String?
    @Option(help: "The day after exposure on which the arms are compared.") var effectDay = 30
    @Option(help: "The smallest effect on access worth having, in points of a hundred.") var smallestEffect = 3.0
    @Option(help: "The length of cohorts: week or month.") var cohorts = CohortSpan.week
    @Option(help: "The time zone of cohorts: utc or pacific.") var timeZone = ReportZone.utc
    @Option(help: "The output format: html, csv or json.") var format = Format.html
    @OptionGroup var options: DatabaseOptions

    private var time: Timestamp? { asOf.flatMap(Timestamp.init(dateOrTime:)) }

    func validate() throws {
        if asOf != nil {
            guard let time else {
                throw ValidationError("--as-of must be a date or a time, such as 2026-11-20 or 2026-11-20T10:00:00Z.")
            }
            guard time <= Timestamp(.now) else { throw ValidationError("--as-of must not be in the future.") }
        }
        guard (1...365).contains(effectDay) else { throw ValidationError("--effect-day must be from 1 to 365.") }
        guard (0.1...50).contains(smallestEffect) else {
            throw ValidationError("--smallest-effect must be from 0.1 to 50.")
        }
    }

    func run() async throws {
        let catalogue = try options.configuration().catalogue ?? Catalogue(apps: [:])
        let (reported, settings) = try selection.offer(offer, in: catalogue)
        var question = ReportQuestion(about: reported, asOf: time ?? Timestamp(.now), in: catalogue)
        question.effectDay = effectDay
        question.horizon = max(question.horizon, effectDay)
        question.smallestEffect = smallestEffect / 100
        question.span = cohorts
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
}

extension CohortSpan: ExpressibleByArgument {}
extension ReportZone: ExpressibleByArgument {}
