import type { Server } from "node:http"
import { Server as HttpsServer } from "node:https"
import type { Socket } from "node:net"
import { Duplex } from "node:stream"

/** The error of Node's parser for a method that it does not know. */
interface ParserError extends NodeJS.ErrnoException {
  readonly bytesParsed?: number
  readonly rawPacket?: Buffer
}

/** A connection with one request, whose bytes have arrived. The response goes to the socket that the request came from. */
export class OneRequest extends Duplex {
  readonly bytesRead: number

  constructor(
    bytes: Buffer,
    readonly target: Socket
  ) {
    super()
    this.bytesRead = bytes.length
    this.push(bytes)
    target.once("close", () => this.destroy())
  }

  get remoteAddress(): string | undefined {
    return this.target.remoteAddress
  }

  setTimeout(millis: number): this {
    this.target.setTimeout(millis)
    return this
  }

  override _read(): void {
    // There is no more than the one request.
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.target.write(chunk, encoding, callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.target.destroySoon()
    callback()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.target.writableEnded) this.target.destroy()
    callback(error)
  }
}

/** The parser stops at the third letter of LIST. */
const lettersParsed = 2

const pattern = /^LIST (\/v1\/[^ ?#\r\n]+)(?:\?([^ #\r\n]*))? (HTTP\/1\.[01]\r\n)/

/**
 * The request as GET with `list=true`, as Vault's own client sends it. Null unless the packet holds one whole request with
 * the method LIST, without a body, for the view of Vault's API.
 */
const asGet = ({ bytesParsed = 0, code, rawPacket }: ParserError): Buffer | null => {
  if (code !== "HPE_INVALID_METHOD" || rawPacket === undefined) return null
  const text = rawPacket.toString("latin1", bytesParsed - lettersParsed)
  if (text.indexOf("\r\n\r\n") !== text.length - 4 || !pattern.test(text)) return null
  return Buffer.from(
    text.replace(pattern, (_, path: string, query: string | undefined, rest: string) => {
      const others = query === undefined || query === "" ? "" : `${query}&`
      return `GET ${path}?${others}list=true ${rest}`
    }),
    "latin1"
  )
}

/** The event of a connection that requests can be read from: with TLS, once it is encrypted. */
export const connectionEvent = (server: Server): string =>
  server instanceof HttpsServer ? "secureConnection" : "connection"

const answered = new WeakSet<Socket>()

/** Whether a socket is being answered outside of its parser, which fails again with whatever else arrives. */
export const isAnswered = (socket: Socket): boolean => answered.has(socket)

/**
 * Answers a request with the method LIST, which Vault's clients send and Node's parser does not know. The server parses it
 * again as GET, on a connection of its own, so that its limits and its authentication are those of every request. The
 * socket is closed afterwards, because its parser has failed.
 */
export const answerList = (server: Server, error: ParserError, socket: Socket): boolean => {
  const bytes = asGet(error)
  if (bytes === null) return false
  answered.add(socket)
  server.emit(connectionEvent(server), new OneRequest(bytes, socket))
  return true
}
