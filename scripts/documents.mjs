/**
 * Builds the documents that the server serves, in packages/server/dist/documents: the contract as OpenAPI and as a page,
 * and `llms.txt`, `llms-full.txt`, and a text and HTML for each page from those of `docs/`, each with compressed copies. Runs
 * after `tsc -b`.
 */
import { createHash } from "node:crypto"
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { posix } from "node:path"
import { fileURLToPath } from "node:url"
import { HttpApi, HttpApiBuilder, HttpApiSwagger, HttpApp, HttpRouter, OpenApi } from "@effect/platform"
import { Context, Effect, Layer } from "effect"
import { Api } from "../packages/domain/dist/Api.js"
import { apiDocument } from "../packages/server/dist/edges/system/ApiDocument.js"
import { writeCompressed } from "./compress.mjs"
import { documentPage, doors, pagePolicy } from "./document-page.mjs"

const root = new URL("../", import.meta.url)
const target = new URL("packages/server/dist/documents/", root)

/** The pages in reading order for newcomers. Others follow by name. */
const order = [
  ...[
    "getting-started",
    "install",
    "concepts",
    "console",
    "cli",
    "run",
    "applications",
    "mcp",
    "agents",
    "api",
    "configuration",
    "operations"
  ],
  "observability"
]
/** Pages that are linked, but not part of the full text. */
const apart = ["licences"]

const document = apiDocument()

/** The four doors, above the toolkit's page. */
const doorsAbove = `<nav aria-label="Documentation" style="padding:1rem 20px;font:14px/1.6 system-ui,sans-serif">${doors
  .map(([name, title]) => `<a href="/docs/${name}" style="margin-right:1.25rem">${title}</a>`)
  .join("")}</nav>`

/** The toolkit's page for a contract, self-contained, with links to the documentation above it. */
const page = () => {
  const described = Api.annotate(OpenApi.Transform, () => document)
  const contract = Layer.succeed(HttpApi.Api, { api: described, context: Context.empty() })
  const layer = HttpApiSwagger.layer().pipe(Layer.provideMerge(HttpApiBuilder.Router.Live), Layer.provide(contract))
  return Effect.gen(function* () {
    const app = yield* HttpRouter.toHttpApp(yield* HttpApiBuilder.Router.router)
    const response = yield* Effect.promise(() => HttpApp.toWebHandler(app)(new Request("http://localhost/docs")))
    const html = yield* Effect.promise(() => response.text())
    return html.replace(/<body[^>]*>/, (body) => `${body}${doorsAbove}`)
  }).pipe(Effect.provide(layer), Effect.scoped, Effect.runPromise)
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`
const inline = (html, tag) =>
  [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))].map(([, text]) => hash(text))

/** Allows only inline scripts and styles of the page, and requests to this server. */
const policy = (html) =>
  [
    "default-src 'none'",
    `script-src ${inline(html, "script").join(" ")}`,
    // The page's script sets inline styles. These are harmless, because no other script can run.
    "style-src 'unsafe-inline'",
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length)

const readPages = async () => {
  const names = (await readdir(new URL("docs/", root), { recursive: true }))
    .filter((file) => file.endsWith(".md"))
    .map((file) => file.slice(0, -3))
  const pages = await Promise.all(
    names.map(async (name) => ({ name, text: await readFile(new URL(`docs/${name}.md`, root), "utf8") }))
  )
  return pages.sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name))
}

const plain = (markdown) =>
  markdown
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/\s+/g, " ")
    .trim()

/** Returns a page's title and its first sentence. */
const headOf = ({ name, text }) => {
  const [, title = name] = /^# (.+)$/m.exec(text) ?? []
  const [, paragraph = title] = /^# .+\n+([^\n#|<>-][^\n]*)/m.exec(text) ?? []
  const [sentence] = /^.*?\.(?= |$)/.exec(plain(paragraph)) ?? [plain(paragraph)]
  return { name, title: plain(title), sentence: sentence.replace(/\.$/, "") }
}

const summary =
  "Coffer is a secrets manager. It stores secrets by organization, project and environment, encrypted at rest with a key that only the operator has. It is one server process with an embedded database and a JSON REST API, the command-line client `coffer`, and the MCP server `coffer-mcp` with 15 tools."

const notes = `- Credentials: a user's session token as \`Authorization: Bearer svc_st_…\`, a service account's key as \`X-API-Key: svc_sa_…\`.
- Every error is \`{"error":{"code","message"}}\`, with a code of a closed set.
- Programs get secrets as environment variables with \`coffer run COMMAND\`. Prefer it to reading values.
- Give each agent its own service account, with \`--no-reveal\` if it needs no values.`

/** The reference of the API, a page for each group of calls: as a whole, it is as long as all others together. */
const groupPages = (pages) => {
  const [, ...sections] = (pages.find(({ name }) => name === "api")?.text ?? "").split(/^## /m)
  return sections.map((section) => {
    const [title] = section.split("\n", 1)
    return { name: `api-${title.toLowerCase().replaceAll(" ", "-")}`, title, text: `# ${section.trim()}\n` }
  })
}

/** A page with its links to others as they are served. */
const served = ({ name, text }) =>
  text.replaceAll(/\]\((?!https?:|\/|#)([a-z./-]+\.md)(#[^)]*)?\)/g, (link, path, anchor = "") => {
    const target = posix.join("/docs", posix.dirname(name), path)
    return target.startsWith("/docs/") ? `](${target}${anchor})` : link
  })

const index = (pages) =>
  [
    "# Coffer",
    `> ${summary}`,
    notes,
    "## Documentation",
    [
      "- [All pages as plain text](/llms-full.txt): everything below in one file",
      ...pages
        .filter(({ name }) => !apart.includes(name))
        .map(headOf)
        .map(({ name, sentence, title }) => `- [${title}](/docs/${name}.md): ${sentence}`)
    ].join("\n"),
    "## API",
    [
      "- [OpenAPI 3.1](/openapi.json): every endpoint with schemas, descriptions and examples",
      ...document.tags.map(
        ({ description, name }) =>
          `- [${name}](/docs/api-${name.toLowerCase().replaceAll(" ", "-")}.md): ${description}`
      ),
      "- [Records](/docs/api-records.md): the records that calls take and return, field by field",
      "- [Errors](/docs/api-errors.md): the codes of errors, with what a caller does next"
    ].join("\n"),
    "## Optional",
    "- [The API as a page for people](/docs): the same contract, in a browser"
  ].join("\n\n") + "\n"

const full = (pages) =>
  [
    `# Coffer\n\n> ${summary}\n\n${notes}`,
    ...pages
      .filter(({ name }) => !apart.includes(name))
      .map(({ name, text }) => `<!-- docs/${name}.md -->\n\n${text.trim()}`)
  ].join("\n\n---\n\n") + "\n"

const [html, pages] = await Promise.all([page(), readPages()])
await mkdir(target, { recursive: true })
await rm(new URL("pages/", target), { recursive: true, force: true })
await mkdir(new URL("pages/", target))
await Promise.all(
  Object.entries({
    "openapi.json": `${JSON.stringify(document)}\n`,
    "docs.html": html,
    "docs.csp": policy(html),
    "pages.csp": pagePolicy,
    "llms.txt": index(pages),
    "llms-full.txt": full(pages),
    ...Object.fromEntries(
      [...pages, ...groupPages(pages)].flatMap((page) => [
        [`pages/${page.name}.md`, served(page)],
        [`pages/${page.name}.html`, documentPage({ ...page, title: headOf(page).title })]
      ])
    )
  }).map(async ([name, text]) => {
    const path = fileURLToPath(new URL(name, target))
    await mkdir(new URL("./", new URL(name, target)), { recursive: true })
    await writeFile(path, text)
    await writeCompressed(path, Buffer.from(text), 9)
  })
)
const pictures = await readdir(new URL("docs/", root), { recursive: true })
await Promise.all(
  pictures
    .filter((file) => /\.(?:svg|webp)$/.test(file))
    .map((file) => cp(new URL(`docs/${file}`, root), new URL(`pages/${file}`, target), { recursive: true }))
)
