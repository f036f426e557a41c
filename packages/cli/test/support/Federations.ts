import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { clusterFederation, podClaims, Signer } from "../../../server/test/federations/Signer.js"
import type { Workplace } from "./Workplace.js"

/** A service account that signs in with tokens of a cluster, whose keys the test has. */
export class Cluster {
  private constructor(
    private readonly workplace: Workplace,
    private readonly signer: Signer,
    private readonly path: string
  ) {}

  /** Makes the account `deploy` with `admin` in acme, and its federation. */
  static async start(workplace: Workplace): Promise<Cluster> {
    const { ok, prints } = workplace
    await ok("service-account", "create", "deploy")
    const rule = "--project-pattern * --env-pattern * --permission admin".split(" ")
    await ok("acl", "grant", "--service-account", "deploy", ...rule)
    const { data } = JSON.parse(await prints("service-account", "list", "--json"))
    const path = `/api/orgs/acme/service-accounts/${data[0].id}/federations`
    const cluster = new Cluster(workplace, await Signer.make(), path)
    await cluster.federate()
    return cluster
  }

  private call(method: string, path: string, body?: unknown) {
    const { home, server } = this.workplace
    return server.call(method, path, { body, token: home.token })
  }

  async federate() {
    await this.call("POST", this.path, clusterFederation(this.signer))
  }

  /** Revokes the federation, which ends its sessions, and makes it again. */
  async endSessions() {
    const { data } = await this.call("GET", this.path)
    for (const { id } of data) await this.call("DELETE", `${this.path}/${id}`)
    await this.federate()
  }

  token(more: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const claims = podClaims("acme/deploy", Math.floor(Date.now() / 1000))
    const { host } = new URL(this.workplace.server.url)
    return this.signer.sign({ ...claims, aud: `coffer:${host}/acme/deploy`, ...more })
  }
}

/** A service that gives tokens to the jobs of GitHub Actions. */
export class TokenService {
  readonly asked: Array<{ readonly url: string; readonly authorization: string | undefined }> = []
  /** The status of the next answers, in turn; then 200. */
  readonly statuses: Array<number> = []

  private constructor(
    readonly address: string,
    readonly stop: () => void
  ) {}

  static async start(token: (audience: string) => Promise<string>): Promise<TokenService> {
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? "", "http://127.0.0.1")
      service.asked.push({ url: request.url ?? "", authorization: request.headers.authorization })
      const status = service.statuses.shift() ?? 200
      void token(url.searchParams.get("audience") ?? "").then((value) => {
        response.writeHead(status, { "content-type": "application/json" })
        response.end(JSON.stringify({ count: 1, value }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const service = new TokenService(`http://127.0.0.1:${port}/idtoken/1/2?api-version=2.0`, () => {
      server.closeAllConnections()
      server.close()
    })
    return service
  }
}
