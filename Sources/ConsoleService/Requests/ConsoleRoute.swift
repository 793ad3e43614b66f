import OfferConsole
import OfferHTTP

/// One row of the table of the console's pages and acts.
struct ConsoleRoute: Sendable {
    enum Access: Sendable, Equatable {
        /// Everybody, signed in or not.
        case anyone
        /// Persons with one of these roles.
        case roles([ConsoleRole])
    }

    typealias Handler = @Sendable (ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer

    let path: StaticString
    let access: Access
    /// The fields of the query, or of the form of an act; nil if the page reads its query itself.
    let fields: [FormReader.Field]?
    /// True for a form with the method POST; false for a page.
    let isAct: Bool
    /// The maximum size of the body of a form with files, which has parts; nil for other forms.
    var maximumUploadBytes: Int?
    let handle: Handler

    static func page(
        _ path: StaticString, for access: Access, _ fields: [FormReader.Field] = [], _ handle: @escaping Handler
    ) -> ConsoleRoute {
        ConsoleRoute(path: path, access: access, fields: fields, isAct: false, handle: handle)
    }

    static func act(
        _ path: StaticString, for access: Access, _ fields: [FormReader.Field] = [], _ handle: @escaping Handler
    ) -> ConsoleRoute {
        ConsoleRoute(path: path, access: access, fields: fields, isAct: true, handle: handle)
    }

    static func upload(
        _ path: StaticString, for access: Access, _ fields: [FormReader.Field], maximumBytes: Int,
        _ handle: @escaping Handler
    ) -> ConsoleRoute {
        var route = act(path, for: access, fields, handle)
        route.maximumUploadBytes = maximumBytes
        return route
    }

    /// Reads the query of a page or the body of an act.
    func values(of request: HTTPRequest) throws(ConsoleRefusal) -> FormValues {
        guard let fields else { return FormValues.none }
        do throws(FormReader.Fault) {
            guard isAct else { return try FormReader.read((request.query ?? "").utf8, fields: fields) }
            guard request.query == nil else { throw .unknownField("?") }
            if maximumUploadBytes != nil, !request.body.isEmpty {
                guard let boundary = request.contentType.flatMap(MultipartReader.boundary) else { throw .notParts }
                return try MultipartReader.read(request.body, boundary: boundary, fields: fields)
            }
            let type = request.contentType?.lowercased().split(separator: ";").first
            guard type == "application/x-www-form-urlencoded" || request.body.isEmpty else { throw .notPairs }
            return try FormReader.read(request.body, fields: fields)
        } catch { throw .problem(.badRequest(error.sentence)) }
    }
}

extension FormReader.Fault {
    fileprivate var sentence: String {
        switch self {
        case .tooLarge, .tooManyFields: "The form is too large."
        case .notPairs, .notParts, .badName: "The form is malformed."
        case .unknownField: "The form has an unknown field."
        case .repeatedField(let name): "The field \(name) occurs twice."
        case .tooLong(let name): "The field \(name) is too long."
        case .badText(let name): "The field \(name) has characters that are not allowed."
        }
    }
}

/// An answer of the console.
enum ConsoleAnswer: Sendable {
    /// - Parameter refresh: the time after which the browser loads the page again, in seconds; nil for never.
    case page(HTML, status: Int = 200, refresh: Int? = nil)
    /// A table for a spreadsheet, which the browser keeps as a file with this name.
    case csv(String, name: StaticString)
    /// 303: the browser opens another page of the console.
    case redirect(PageAddress, cookies: [ConsoleCookie] = [])
    /// 303: the browser leaves the console, for the identity provider.
    case leave(String, cookies: [ConsoleCookie])
}

/// The reason a page is not shown, or an act not done.
enum ConsoleRefusal: Error {
    /// The person must sign in first, or again.
    case signIn(SignInView.Reason?)
    case problem(ErrorView.Problem)
}
