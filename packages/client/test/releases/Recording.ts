import { once } from "node:events"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { unknownKey } from "./Walk.js"

/** A response of a server, and what the request must be for it. */
interface Exchange {
  /** How many writes came before. */
  readonly after: number
  /** The method and the path, with the query. */
  readonly call: string
  readonly known: boolean
  readonly etag: string | null
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The responses of a release's server in a walk, and the results that the application saw. */
export interface Recording {
  readonly version: string
  readonly seen: Readonly<Record<string, unknown>>
  readonly exchanges: ReadonlyArray<Exchange>
}

type Asked = Pick<Exchange, "after" | "call" | "etag" | "known">

const asked = ({ headers, method = "", url = "" }: IncomingMessage, after: number): Asked => ({
  after,
  call: `${method} ${url}`,
  known: headers["x-api-key"] !== unknownKey,
  etag: headers["if-none-match"] ?? null
})

/** Headers of the connection, and those that name one request. */
const notKept = new Set(["connection", "content-encoding", "content-length", "date", "keep-alive", "x-request-id"])

const listen = async (answer: RequestListener) => {
  const server = createServer(answer).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    }
  }
}

const isWrite = ({ method }: IncomingMessage) => method !== "GET" && method !== "HEAD"

/** A server that passes requests on, and notes the responses. */
export const recorder = async (target: string) => {
  const exchanges: Array<Exchange> = []
  let writes = 0
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const of = asked(request, writes)
    if (isWrite(request)) writes++
    const { authorization, "content-type": type, "if-none-match": etag, "x-api-key": key } = request.headers
    const answer = await fetch(`${target}${request.url}`, {
      method: request.method ?? "",
      headers: Object.entries({ authorization, "content-type": type, "if-none-match": etag, "x-api-key": key }).flatMap(
        ([name, value]): Array<[string, string]> => (typeof value === "string" ? [[name, value]] : [])
      ),
      body: isWrite(request) ? Buffer.concat(await request.toArray()) : null
    })
    const headers = Object.fromEntries([...answer.headers].filter(([name]) => !notKept.has(name)))
    const body = await answer.text()
    exchanges.push({ ...of, status: answer.status, headers, body })
    response.writeHead(answer.status, headers).end(body)
  }
  return { exchanges, ...(await listen((request, response) => void pass(request, response))) }
}

const refusal = (status: number, code: string) => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ error: { code, message: "not in the recording" } })
})

/** Refuses a request that was not recorded, as the server does for an unknown path or unknown parameters. */
const unrecorded = ({ call }: Asked, exchanges: ReadonlyArray<Exchange>) => {
  const [path] = call.split("?")
  return exchanges.some((one) => one.call.split("?")[0] === path)
    ? refusal(400, "VALIDATION_ERROR")
    : refusal(404, "NOT_FOUND")
}

/** A server that answers as the recorded one did. */
export const replay = ({ exchanges }: Pick<Recording, "exchanges">) => {
  let writes = 0
  return listen((request, response) => {
    const of = asked(request, writes)
    if (isWrite(request)) writes++
    const found = exchanges.find(
      ({ after, call, etag, known }) => after === of.after && call === of.call && known === of.known && etag === of.etag
    )
    const { body, headers, status } = found ?? unrecorded(of, exchanges)
    request.resume().once("end", () => response.writeHead(status, headers).end(body))
  })
}
