import * as Headers from "@effect/platform/Headers"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Html, markup } from "./Html.js"
import { contentSecurityPolicy, style } from "./Style.js"

interface PageOptions {
  readonly title: string
  readonly status?: number
  /** The path that the browser opens by itself, without a script. */
  readonly next?: string
  readonly headers?: Headers.Input
}

const securityHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY"
}

const document = ({ next, title }: PageOptions, body: Html): Html => markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${next === undefined ? null : markup`<meta http-equiv="refresh" content="0; url=${next}">`}
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`

/** A page for a browser. It works without scripts, and its policy allows none. */
export const page = (options: PageOptions, body: Html): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.uint8Array(new TextEncoder().encode(document(options, body).text), {
    status: options.status ?? 200,
    contentType: "text/html; charset=utf-8",
    headers: Headers.setAll(Headers.fromInput(securityHeaders), Headers.fromInput(options.headers ?? {}))
  })
