import { assert } from "vitest"
import type { Json } from "./Program.js"

type Fields = Readonly<Record<string, string>>
type Init = Omit<RequestInit, "headers"> & { readonly headers?: Fields }

export interface Page {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** A browser without scripts: it keeps cookies, sends forms, and follows links that it is told to. */
export class Browser {
  readonly cookies = new Map<string, string>()

  constructor(readonly url: string) {}

  async open(path: string, init: Init = {}): Promise<Page> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const response = await fetch(new URL(path, this.url), {
      redirect: "manual",
      ...init,
      // A kept connection, which the server may close while this process works, loses the next request.
      headers: { connection: "close", ...(cookie !== "" && { cookie }), ...init.headers }
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/; Max-Age=0\b/.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  /** Sends the form of a page, with these fields filled in. */
  async submit(page: Page, fields: Fields, headers: Fields = {}): Promise<Page> {
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)]
    const form = new URLSearchParams(hidden.map(([, name = "", value = ""]): [string, string] => [name, value]))
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    const [, action] = /<form method="post" action="([^"]*)">/.exec(page.text) ?? assert.fail("there is no form")
    return this.open(action ?? "", {
      method: "POST",
      body: form,
      headers: { "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate", ...headers }
    })
  }

  /** A request as a script of the server's own pages makes it. */
  async call(method: string, path: string, body?: unknown, headers: Fields = {}): Promise<Page & { body: Json }> {
    const answer = await this.open(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: {
        "x-coffer": "1",
        "sec-fetch-site": "same-origin",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers
      }
    })
    return { ...answer, body: answer.text === "" ? undefined : JSON.parse(answer.text) }
  }
}

/** The sentence of a page that says what went wrong. */
export const alertOf = ({ text }: Page): string => /<p class="error" role="alert">([^<]*)<\/p>/.exec(text)?.[1] ?? ""
