import { generateKeyPairSync, randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { decodeJwt, exportJWK, importJWK, type JWK, type JWTPayload, SignJWT } from "jose"
import Provider, { type Configuration } from "oidc-provider"
import { assert } from "vitest"
import { freePort } from "./Port.js"

/** The person who logs in at the provider. */
export interface Account {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  /** Sent for the scope of that name. */
  readonly groups?: unknown
}

const keyOf = async (): Promise<JWK> => ({
  ...(await exportJWK(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey)),
  kid: randomUUID(),
  alg: "RS256",
  use: "sig"
})

/** A real provider of single sign-on on loopback. Whoever visits it is logged in as `account`, without a question. */
export class TestProvider {
  account: Account = { sub: "ada", email: "ada@example.com", email_verified: true }
  /** Changes the claims of each ID token, which is signed again. */
  forge: ((claims: JWTPayload) => JWTPayload) | null = null
  /** Signs the changed tokens, unless it is the provider's own key. */
  otherKey: JWK | null = null
  /** The requests to its token endpoint. */
  exchanges = 0
  #server: Server | null = null
  #key: JWK | null = null

  private constructor(
    readonly port: number,
    readonly redirectUri: string,
    readonly inToken: boolean
  ) {}

  get issuer(): string {
    return `http://127.0.0.1:${this.port}`
  }

  static async make(redirectUri: string, { inToken = false } = {}): Promise<TestProvider> {
    return new TestProvider(await freePort(), redirectUri, inToken)
  }

  /** The id of its key. */
  get kid(): string {
    return this.#key?.kid ?? assert.fail("it is not started")
  }

  /** Starts it, with a new key each time. */
  async start(): Promise<this> {
    this.#key = await keyOf()
    const provider = new Provider(this.issuer, this.#configuration(this.#key))
    const handle = provider.callback()
    const listener = async (request: IncomingMessage, response: ServerResponse) => {
      if (request.url?.startsWith("/interaction/") === true) {
        await provider.interactionFinished(request, response, { login: { accountId: this.account.sub } })
        return
      }
      if (request.url === "/token") {
        this.exchanges += 1
        if (this.forge !== null) this.#rewrite(response, this.forge)
      }
      await handle(request, response)
    }
    this.#server = createServer((request, response) => void listener(request, response)).listen(this.port, "127.0.0.1")
    await once(this.#server, "listening")
    return this
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = null
    if (server === null) return
    server.close()
    server.closeAllConnections()
    await once(server, "close")
  }

  #configuration(key: JWK): Configuration {
    return {
      clients: [
        {
          client_id: "coffer",
          client_secret: "a secret: with/strange+characters",
          redirect_uris: [this.redirectUri],
          post_logout_redirect_uris: [new URL("/login", this.redirectUri).href]
        }
      ],
      jwks: { keys: [key] },
      cookies: { keys: ["test"] },
      claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
      conformIdTokenClaims: !this.inToken,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...this.account, sub: id }) }),
      loadExistingGrant: async (context) => {
        const { client, provider, session } = context.oidc
        const grant = new provider.Grant({
          clientId: client?.clientId ?? "",
          accountId: session?.accountId ?? ""
        })
        grant.addOIDCScope("openid email groups")
        await grant.save()
        return grant
      }
    }
  }

  /** Replaces the ID token of the answer. */
  #rewrite(response: ServerResponse, forge: (claims: JWTPayload) => JWTPayload): void {
    const end = response.end.bind(response)
    response.end = ((chunk: string | Buffer) => {
      const answer = JSON.parse(String(chunk)) as { id_token?: string }
      if (answer.id_token === undefined) return end(chunk)
      const key = this.otherKey ?? this.#key ?? assert.fail("it is not started")
      const claims = forge(decodeJwt(answer.id_token))
      void (async () => {
        const signed = await new SignJWT(claims)
          .setProtectedHeader({ alg: "RS256", kid: key.kid ?? "" })
          .sign(await importJWK(key, "RS256"))
        const text = JSON.stringify({ ...answer, id_token: signed })
        response.setHeader("content-length", Buffer.byteLength(text))
        end(text)
      })()
      return response
    }) as typeof response.end
  }

  static newKey = keyOf

  /** Follows the provider's redirects, as a browser does, until it sends back. Returns that address. */
  async visit(address: string): Promise<URL> {
    const cookies = new Map<string, string>()
    let next = new URL(address)
    for (let hops = 0; hops < 10; hops++) {
      if (next.href.startsWith(this.redirectUri)) return next
      const response = await fetch(next, {
        redirect: "manual",
        headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }
      })
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      const location = response.headers.get("location")
      if (location === null) assert.fail(`${response.status} of ${next.href}: ${await response.text()}`)
      next = new URL(location, next)
    }
    return assert.fail("the provider redirects for ever")
  }
}
