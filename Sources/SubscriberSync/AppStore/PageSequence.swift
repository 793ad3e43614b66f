import AppStoreAPI
import OfferConfiguration

/// The linked pages of one App Store list. It refuses a list that would never end.
struct PageSequence {
    /// The name of the link in the App Store's answers, for errors.
    private let link: String
    private let maximumCount: Int
    private var links: Set<String> = []

    /// - Parameters:
    ///   - link: the member that leads from one page to the next.
    ///   - start: the link at which the list continues; nil to start at the beginning.
    ///   - maximumCount: the maximum number of pages, more than any real list has.
    init(link: String, from start: String? = nil, maximumCount: Int) {
        self.link = link
        self.maximumCount = maximumCount
        if let start { links.insert(start) }
    }

    /// Records the link to the next page. Throws an error if the list would not end.
    mutating func follow(_ next: String) throws(APIFailure) {
        guard links.insert(next).inserted else {
            throw .unreadable(AnswerError("\(link) occurred before, so the list would not end"))
        }
        guard links.count <= maximumCount else {
            throw .unreadable(AnswerError("\(link) leads to more than \(maximumCount) pages"))
        }
    }
}
