import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Answers a request that is not HTTP with a problem in JSON, and closes the connection.
///
/// It only speaks when the answer is the next one due: after an error in a request that an earlier one is still in
/// front of, it lets the connection close without a word, because answers must not overtake each other.
final class MalformedRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let makeAnswer: () -> Answer
    private var answersDue = 0
    private var isReadingBody = false
    private var isWritingAnswer = false

    init(makeAnswer: @escaping () -> Answer) {
        self.makeAnswer = makeAnswer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            answersDue += 1
            isReadingBody = true
        case .body: break
        case .end: isReadingBody = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head: isWritingAnswer = true
        case .body: break
        case .end:
            isWritingAnswer = false
            answersDue -= 1
        }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let answersInFront = isReadingBody ? answersDue - 1 : answersDue
        if error is HTTPParserError, answersInFront == 0, !isWritingAnswer {
            write(makeAnswer(), context: context)
            context.close(promise: nil)
        }
        context.fireErrorCaught(error)
    }

    private func write(_ answer: Answer, context: ChannelHandlerContext) {
        var head = HTTPResponse(status: .init(code: answer.status), headerFields: answer.headers)
        head.headerFields[.connection] = "close"
        head.headerFields[.contentLength] = String(answer.body.count)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(ByteBuffer(bytes: answer.body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
