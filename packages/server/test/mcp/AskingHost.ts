import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError
} from "@modelcontextprotocol/client"
import { assert } from "vitest"

/** Sends each request for the public address to the next of the servers. */
export const throughAll = (publicUrl: string, addresses: ReadonlyArray<string>): typeof fetch => {
  let sent = 0
  return async (input, init) => {
    const { hash, href, origin } = new URL(input instanceof Request ? input.url : input)
    assert.strictEqual(origin, publicUrl, "a host asks this server alone")
    const to = addresses[sent++ % addresses.length] ?? assert.fail("there is no server")
    const headers = new Headers(init?.headers)
    // The server limits the requests of one address.
    if (!headers.has("x-real-ip")) headers.set("x-real-ip", `198.18.${(sent >> 8) % 256}.${sent % 256}`)
    return fetch(href.replace(origin, to).replace(hash, ""), { ...init, headers })
  }
}

/** A host of agents that keeps what OAuth gives it, and stops where a browser would open. */
class Keeper implements OAuthClientProvider {
  asked: URL | undefined
  verifier = ""
  kept: OAuthTokens | undefined
  client: OAuthClientInformationMixed | undefined

  constructor(readonly redirectUrl: string) {}

  get clientMetadata(): OAuthClientMetadata {
    return { redirect_uris: [this.redirectUrl], client_name: "Test host", token_endpoint_auth_method: "none" }
  }
  state = () => "the-state-of-the-host"
  clientInformation = () => this.client
  saveClientInformation = (client: OAuthClientInformationMixed) => {
    this.client = client
  }
  tokens = () => this.kept
  saveTokens = (tokens: OAuthTokens) => {
    this.kept = tokens
  }
  redirectToAuthorization = (url: URL) => {
    this.asked = url
  }
  saveCodeVerifier = (verifier: string) => {
    this.verifier = verifier
  }
  codeVerifier = () => this.verifier
  discovery: unknown
  saveDiscoveryState = (state: unknown) => {
    this.discovery = state
  }
  discoveryState = () => this.discovery as never
}

/** The official client as a host of agents. */
export const askingHost = (mcp: string, send: typeof fetch, redirectUrl = "http://127.0.0.1:33418/callback") => {
  const keeper = new Keeper(redirectUrl)
  const transport = () => new StreamableHTTPClientTransport(new URL(mcp), { authProvider: keeper, fetch: send })
  const client = () =>
    new Client({ name: "test-host", version: "1.0.0" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } })
  return {
    keeper,

    /** Connects without a token: returns the address that a browser would open. */
    ask: async (): Promise<URL> => {
      const error: unknown = await client()
        .connect(transport())
        .then(
          () => assert.fail("it is connected without a token"),
          (error: unknown) => error
        )
      assert.instanceOf(error, UnauthorizedError)
      return keeper.asked ?? assert.fail("no browser was opened")
    },

    /** Takes what the browser brings, and connects with the token. */
    connect: async (answer: string): Promise<Client> => {
      await transport().finishAuth(new URL(answer).searchParams)
      const connected = client()
      await connected.connect(transport())
      return connected
    },

    /** Another connection with the token that it has. */
    again: async (): Promise<Client> => {
      const connected = client()
      await connected.connect(transport())
      return connected
    }
  }
}
