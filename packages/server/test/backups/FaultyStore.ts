import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

/** A call as the store sees it. */
export type Operation = "put" | "begin" | "part" | "complete" | "abort" | "delete" | "list" | "uploads" | "get"

/** The outcome of a call: an answer, silence, a broken connection, an error, or half of an answer and one of these. */
export type Fault = "none" | "hang" | "reset" | "cut" | "stall" | 403 | 500

const operationOf = (method: string, query: URLSearchParams): Operation => {
  switch (method) {
    case "PUT":
      return query.has("partNumber") ? "part" : "put"
    case "POST":
      return query.has("uploads") ? "begin" : "complete"
    case "DELETE":
      return query.has("uploadId") ? "abort" : "delete"
    default:
      return query.has("list-type") ? "list" : query.has("uploads") ? "uploads" : "get"
  }
}

const xml = (text: string) => `<?xml version="1.0" encoding="UTF-8"?>${text}`

/** A small S3 in memory, whose calls fail as a test wants them to. */
export class FaultyStore {
  readonly objects = new Map<string, Buffer>()
  /** The unfinished uploads: the key and the parts of each. */
  readonly uploads = new Map<string, { readonly key: string; readonly parts: Map<number, Buffer> }>()
  /** Every call that came, in its order. */
  readonly calls: Array<Operation> = []
  readonly pageSize = 2
  fault: (operation: Operation, count: number) => Fault = () => "none"
  /** Lets a call be done before its fault is had: the answer is lost, not the work. */
  worksDespiteFault = false
  /** The calls that wait for an answer which never comes, while their clients do. */
  readonly pending = new Set<IncomingMessage>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  readonly #watchers = new Set<() => void>()
  #ids = 0

  static async start(): Promise<FaultyStore> {
    const store = new FaultyStore()
    await new Promise<void>((resolve) => store.#server.listen(0, "127.0.0.1", resolve))
    return store
  }

  get settings(): Readonly<Record<string, string>> {
    const { port } = this.#server.address() as AddressInfo
    return {
      BACKUP_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      BACKUP_S3_BUCKET: "bucket",
      BACKUP_S3_ACCESS_KEY: "access",
      BACKUP_S3_SECRET_KEY: "secret"
    }
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  count(operation: Operation): number {
    return this.calls.filter((call) => call === operation).length
  }

  /** Waits until a call has come for the `count`-th time. */
  async called(operation: Operation, count = 1): Promise<void> {
    while (this.count(operation) < count) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#watchers.delete(wake)
          resolve()
        }
        this.#watchers.add(wake)
      })
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", "http://store")
    const key = decodeURIComponent(url.pathname).replace(/^\/bucket\/?/, "")
    const operation = operationOf(request.method ?? "", url.searchParams)
    this.calls.push(operation)
    const fault = this.fault(operation, this.count(operation))
    const pieces: Array<Buffer> = []
    if (fault !== "reset" && fault !== "hang") {
      for await (const piece of request) pieces.push(Buffer.from(piece))
    }
    const works = fault === "none" || fault === "cut" || fault === "stall" || this.worksDespiteFault
    const body = works ? this.#serve(operation, key, url.searchParams, Buffer.concat(pieces), response) : null
    for (const wake of this.#watchers) wake()
    if (fault === "hang" || fault === "stall") {
      this.pending.add(request)
      response.once("close", () => this.pending.delete(request))
    }
    switch (fault) {
      case "hang":
        return
      case "reset":
        request.socket.resetAndDestroy()
        return
      case "none":
        response.end(body)
        return
      case "cut":
      case "stall": {
        const whole = Buffer.from(body ?? "")
        response.setHeader("content-length", whole.length)
        response.write(whole.subarray(0, whole.length / 2), () => {
          if (fault === "cut") request.socket.resetAndDestroy()
        })
        return
      }
      default:
        response.statusCode = fault
        response.setHeader("content-type", "application/xml")
        response.end(xml(`<Error><Code>${fault === 403 ? "AccessDenied" : "InternalError"}</Code></Error>`))
    }
  }

  #serve(
    operation: Operation,
    key: string,
    query: URLSearchParams,
    body: Buffer,
    response: ServerResponse
  ): Buffer | string {
    const uploadId = query.get("uploadId") ?? ""
    const upload = this.uploads.get(uploadId)
    switch (operation) {
      case "put":
        this.objects.set(key, body)
        response.setHeader("etag", '"e"')
        return ""
      case "begin": {
        const id = `upload-${++this.#ids}`
        this.uploads.set(id, { key, parts: new Map() })
        return xml(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
      }
      case "part":
        upload?.parts.set(Number(query.get("partNumber")), body)
        response.setHeader("etag", '"p"')
        return ""
      case "complete":
        this.objects.set(key, Buffer.concat([...(upload?.parts ?? [])].sort(([a], [b]) => a - b).map(([, p]) => p)))
        this.uploads.delete(uploadId)
        return xml("<CompleteMultipartUploadResult><ETag>e</ETag></CompleteMultipartUploadResult>")
      case "abort":
        this.uploads.delete(uploadId)
        response.statusCode = 204
        return ""
      case "delete":
        this.objects.delete(key)
        response.statusCode = 204
        return ""
      case "list": {
        const after = query.get("continuation-token") ?? ""
        const found = [...this.objects.keys()].sort().filter((name) => name > after)
        const page = found.slice(0, this.pageSize)
        const contents = page.map((name) => {
          const size = this.objects.get(name)?.length ?? 0
          return `<Contents><Key>${name}</Key><Size>${size}</Size></Contents>`
        })
        const next =
          found.length > page.length
            ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${page.at(-1) ?? ""}</NextContinuationToken>`
            : "<IsTruncated>false</IsTruncated>"
        return xml(`<ListBucketResult>${contents.join("")}${next}</ListBucketResult>`)
      }
      case "uploads": {
        const open = [...this.uploads].map(
          ([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`
        )
        return xml(`<ListMultipartUploadsResult>${open.join("")}</ListMultipartUploadsResult>`)
      }
      case "get":
        return this.objects.get(key) ?? ""
    }
  }
}
