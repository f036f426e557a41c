import { createHash, randomBytes } from "node:crypto"
import { Browser, type Page } from "./Browser.js"
import type { Answer, Program } from "./Program.js"

let people = 0
let networks = 0

/** Reads the code that was mailed to an address that had none before. */
type ReadCode = (email: string) => Promise<string>

export const fromLog =
  (program: Program): ReadCode =>
  async (email) =>
    (await program.said(new RegExp(`^login code for ${email}: (\\d{6})$`, "m")))[1] ?? ""

/** A browser at an address of its own, so that tests meet no limit for an address. */
export class PersonsBrowser extends Browser {
  readonly ip = `198.51.${(++networks >> 8) & 255}.${networks & 255}`
  readonly email = `reader${++people}@example.com`

  constructor(readonly program: Program) {
    super(program.url)
  }

  override open(path: string, init: RequestInit = {}): Promise<Page> {
    const headers = new Headers(init.headers)
    headers.set("x-real-ip", this.ip)
    return super.open(path, { ...init, headers: Object.fromEntries(headers) })
  }

  /** Fills in the login form of a page, and the code of the mail. */
  async logIn(first: Page, codeFor: ReadCode = fromLog(this.program)): Promise<Page> {
    const asked = await this.submit(first, { email: this.email })
    return this.submit(asked, { code: await codeFor(this.email) })
  }
}

/** Returns the secrets that the program on the browser's machine keeps, and the address that it opens. */
export const loopbackLogin = (parameters: Readonly<Record<string, string>> = {}) => {
  const verifier = randomBytes(32).toString("base64url")
  const state = randomBytes(16).toString("base64url")
  const query = new URLSearchParams({
    redirect_uri: "http://127.0.0.1:53682/callback",
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    machine: "adas-laptop",
    ...parameters
  })
  return { verifier, state, path: `/login?${query.toString()}` }
}

/** Where a page takes the browser by itself. */
export const nextOf = ({ text }: Page): URL | undefined => {
  const [, next] = /<meta http-equiv="refresh" content="0; url=([^"]*)">/.exec(text) ?? []
  return next === undefined ? undefined : new URL(next.replaceAll("&amp;", "&"))
}

/** A program without a browser. */
export const beginDevice = async (program: Program, ip = "203.0.113.7") => {
  const { body, status, text } = await program.call("POST", "/api/auth/device", {
    body: { machine: "build-box" },
    headers: { "x-real-ip": ip }
  })
  if (status !== 200) throw new Error(text)
  return body as {
    readonly device_code: string
    readonly user_code: string
    readonly verification_uri: string
    readonly verification_uri_complete: string
  }
}

/** A login by device that a person has approved. */
export const approvedDevice = async (program: Program, codeFor: ReadCode = fromLog(program)) => {
  const reader = new PersonsBrowser(program)
  const { device_code, user_code } = await beginDevice(program, reader.ip)
  const sent = await reader.submit(await reader.open("/device"), { code: user_code })
  if (sent.status !== 303) throw new Error(sent.text)
  const done = await reader.submit(await reader.logIn(await reader.open("/login?again"), codeFor), { answer: "yes" })
  if (done.status !== 200) throw new Error(done.text)
  return { device_code, user_code }
}

export const tokenFor = (program: Program, body: object): Promise<Answer> =>
  program.call("POST", "/api/auth/token", { body, headers: { "x-coffer-client": "cli" } })

export const codeOf = ({ body }: Answer): string => body.error?.code ?? "none"
