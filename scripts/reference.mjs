/**
 * Writes docs/api.md from the contract, and docs/configuration.md and the settings table of docs/observability.md from the
 * settings. With `--check`, it only reports stale pages. Runs after the build.
 */
import { readFile, writeFile } from "node:fs/promises"
import { HttpApi } from "@effect/platform"
import { Context, Effect, Option } from "effect"
import { format, resolveConfig } from "prettier"
import { Api } from "../packages/domain/dist/Api.js"
import { BodyLimit, RecentLogin, Requires } from "../packages/domain/dist/api/Requirement.js"
import { errors } from "../packages/domain/dist/errors/Errors.js"
import { needs } from "../packages/domain/dist/access/Permissions.js"
import { loadConfig } from "../packages/server/dist/base/Config.js"
import { described } from "../packages/server/dist/base/config/Descriptions.js"
import { apiDocument } from "../packages/server/dist/edges/system/ApiDocument.js"

const document = apiDocument()
const generated = (from) =>
  `<!-- Written by scripts/reference.mjs from ${from}: change that, then run npm run generate. -->`

const cell = (text) => String(text).replaceAll("|", "\\|").replaceAll("\n", " ")
const table = (titles, rows) =>
  [titles, titles.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")

/** Returns the requirement of an endpoint in words. */
const requirement = (requires) => {
  if (requires === "nothing") return "nothing"
  if (requires === "credential") return "a credential"
  if (requires === "person") return "a person's session"
  if (requires === "superadmin") return "superadmin"
  if (requires === "org.create") return "a person's session"
  const need = needs[requires]
  if ("permission" in need) return `\`${need.permission}\` here`
  const account = { any: ", or any service account", manager: ", or an unscoped account with an `admin` rule" }
  return `role ${need.role}${account[need.account] ?? ""}`
}

/** Returns what an endpoint always requires of a browser's session, as a sentence. If it depends, its description says on what. */
const recentLogin = (rule) =>
  rule === "always" ? " A browser's session needs a login from the last 15 minutes for this." : ""

const required = new Map()
const limits = new Map()
const recent = new Map()
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
    const id = `${group.identifier}.${endpoint.name}`
    required.set(id, Option.getOrThrow(Context.getOption(mergedAnnotations, Requires)))
    Option.map(Context.getOption(mergedAnnotations, RecentLogin), (rule) => recent.set(id, rule))
    Option.map(Context.getOption(mergedAnnotations, BodyLimit), (bytes) => limits.set(id, bytes))
  }
})

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ ...operation, call: `${method.toUpperCase()} ${path}` }))
)

const resolve = (schema) =>
  schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split("/").at(-1)]

const typeOf = (schema) => {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1)
    const target = resolve(schema)
    return target.type === "object" && target.properties !== undefined
      ? `[${name}](#${name.toLowerCase()})`
      : typeOf(target)
  }
  if (schema.allOf !== undefined) return typeOf(schema.allOf[0])
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(" or ")
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(", ")
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`
  return schema.format ?? schema.type ?? "any"
}

const fieldRows = (schema) =>
  Object.entries(schema.properties ?? {}).map(([name, field]) => [
    `\`${name}\`${schema.required?.includes(name) ? "" : " (optional)"}`,
    typeOf(field),
    field.description ?? ""
  ])

const json = (value) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

const callSection = (operation) => {
  const body = operation.requestBody?.content["application/json"]
  const bodies = body === undefined ? [] : (body.schema.anyOf ?? [body.schema]).map(resolve)
  const parameters = operation.parameters.filter((parameter) => parameter.in !== "path")
  const answers = Object.entries(operation.responses).filter(([status]) => Number(status) < 400)
  const limit = limits.get(operation.operationId)
  return [
    `### ${operation.summary}`,
    `\`${operation.call}\` needs ${requirement(required.get(operation.operationId))}. ${operation.description}${recentLogin(recent.get(operation.operationId))}`,
    parameters.length === 0
      ? ""
      : table(
          ["parameter", "in", "meaning", "example"],
          parameters.map(({ description, example, in: where, name }) => [
            `\`${name}\``,
            where,
            description,
            `\`${example}\``
          ])
        ),
    ...bodies.map((schema) => table(["field of the body", "type", "meaning"], fieldRows(schema))),
    limit === undefined ? "" : `The body has at most ${limit / 1024} KiB.`,
    body === undefined ? "" : json(body.example),
    answers
      .map(([status, { content, description }]) => {
        const media = content?.["application/json"]
        return `Returns ${status}: ${description}.${media?.example === undefined ? "" : `\n\n${json(media.example)}`}`
      })
      .filter((text, index, all) => all.findIndex((other) => other.slice(12) === text.slice(12)) === index)
      .join("\n\n")
  ]
    .filter((part) => part !== "")
    .join("\n\n")
}

const isRecord = ([, schema]) =>
  schema.type === "object" && schema.properties !== undefined && schema.properties.error === undefined

const api = () =>
  [
    "# The HTTP API",
    "For developers who call the API: every endpoint, record and error, generated from the contract.",
    generated("the contract in packages/domain"),
    'Bodies are JSON in UTF-8, with `Content-Type: application/json`; unknown fields are rejected. Lists are `{"data":[…]}`. Times are ISO 8601 in UTC. The server also serves this contract as [OpenAPI 3.1](https://spec.openapis.org/oas/v3.1.0) at `/openapi.json`, and as a page at `/docs`. Clients must accept unknown fields, enum values and error codes.',
    `A credential is a person's session token (\`Authorization: Bearer svc_st_…\`) or a service account's key (\`X-API-Key: svc_sa_…\`). "\`read\` here" means: owners and admins of the organization, and subjects with an access rule of that permission for this project and environment. A superadmin may do everything. See [concepts](concepts.md).`,
    "A body has at most 1 MiB unless stated otherwise. Every response has the header `X-Request-Id`, the id of the request in the server's log. Lists and comparisons, which hold no secret, are compressed for clients that send `Accept-Encoding: gzip`; their `ETag` is then weak, and either form of it is accepted.",
    "## The calls",
    table(
      ["call", "does", "needs"],
      operations.map(({ call, operationId, summary }) => [
        `\`${call}\``,
        summary,
        requirement(required.get(operationId))
      ])
    ),
    ...document.tags.flatMap(({ description, name }) => [
      `## ${name}`,
      `${description}.`,
      ...operations.filter(({ tags }) => tags.includes(name)).map(callSection)
    ]),
    "## Records",
    ...Object.entries(document.components.schemas)
      .filter(isRecord)
      .sort(([a], [b]) => a.localeCompare(b))
      .flatMap(([name, schema]) => [
        `### ${name}`,
        `${schema.description[0].toUpperCase()}${schema.description.slice(1)}.`,
        table(["field", "type", "meaning"], fieldRows(schema))
      ]),
    "## Errors",
    'Every response other than 2xx and 304 is `{"error":{"code","message"}}`. The message is for people and may change; it never contains a value.',
    table(
      ["code", "status", "when"],
      errors.map(({ code, status }) => {
        const schema = Object.values(document.components.schemas).find((one) => one.examples?.[0]?.error?.code === code)
        return [`\`${code}\``, status, schema.description]
      })
    )
  ].join("\n\n")

const everything = {
  SERVICE_MASTER_KEY: "0".repeat(64),
  SMTP_HOST: "mail.example.com",
  SMTP_FROM: "coffer@example.com",
  BACKUP_S3_ENDPOINT: "https://s3.example.com",
  BACKUP_S3_BUCKET: "backups",
  BACKUP_S3_ACCESS_KEY: "key",
  BACKUP_S3_SECRET_KEY: "secret",
  SERVICE_PUBLIC_URL: "https://coffer.example.com",
  SERVICE_OIDC_ISSUER: "https://id.example.com",
  SERVICE_OIDC_CLIENT_ID: "coffer",
  SERVICE_OIDC_CLIENT_SECRET: "secret"
}

/** The settings without the other forms of one: `SERVICE_MASTER_KEY` and its command exclude each other. */
const settingsBeside = (variable) =>
  Object.fromEntries(Object.entries(everything).filter(([name]) => !variable.startsWith(`${name}_`)))

/** Returns the format of a variable, from the server's error for a value that is always invalid. */
const ruleOf = async (variable) => {
  const attempts = ["\u0000", ":memory:"].map((wrong) =>
    Effect.runPromise(
      Effect.match(loadConfig({ ...settingsBeside(variable), [variable]: wrong }), {
        onFailure: ({ problems }) => problems.find((problem) => problem.variable === variable)?.rule,
        onSuccess: () => undefined
      })
    )
  )
  const rule = (await Promise.all(attempts)).find((found) => found !== undefined)
  return rule === undefined ? "any text" : rule.replace(/^must be |^must /, "")
}

const clients = [
  ["SERVICE_SERVER_URL", "the server's address; flag `--server-url`, key `server_url`", "`http://localhost:7100`"],
  ["SERVICE_ORG", "the organization; flag `--org`, key `org`", ""],
  ["SERVICE_PROJECT", "the project; flag `--project`, key `project`", ""],
  ["SERVICE_ENV", "the environment; flag `--env`, key `env`", ""],
  [
    "SERVICE_API_KEY",
    "a service account's key; takes precedence over a session. `SERVICE_API_KEY_FILE` names a file with the key",
    ""
  ],
  [
    "SERVICE_ACCOUNT",
    "`ORGANIZATION/ACCOUNT`: signs this service account in with a token of the CI system or cluster, if there is no key; takes precedence over a session",
    ""
  ],
  [
    "SERVICE_ID_TOKEN",
    "the token for `SERVICE_ACCOUNT`; `SERVICE_ID_TOKEN_FILE` names a file with the token",
    "what GitHub, Gitea or Forgejo give a job, or `/var/run/secrets/coffer/token`"
  ],
  [
    "SERVICE_HEADERS_FILE",
    "a file with a header a line, as `Name: value`, for what is before the server: see [below](#headers-for-what-is-before-the-server)",
    ""
  ],
  ["SERVICE_HEADER_<NAME>", "one such header: `SERVICE_HEADER_X_TENANT` is `x-tenant`", ""]
]

const settingsTable = async (variables) => {
  const rows = await Promise.all(
    variables.map(async ({ default: fallback, file, meaning, required: when, variable }) => [
      `\`${variable}\`${file ? ", `…_FILE`" : ""}`,
      meaning,
      await ruleOf(variable),
      when !== undefined ? `required ${when}` : fallback === undefined ? "none" : `\`${fallback}\``
    ])
  )
  return table(["variable", "meaning", "form", "default"], rows)
}

const configuration = async () => {
  const groups = await Promise.all(
    described.map(async ({ title, variables }) => `### ${title}\n\n${await settingsTable(variables)}`)
  )
  return [
    "# Configuration",
    "For operators, and for everybody who sets up a client: every setting is an environment variable.",
    generated("the settings in packages/server/src/base/config"),
    "## The server",
    "`coffer-server` reads only environment variables; `npm start` also reads `.env`. At its start the server checks all settings, and names the invalid ones without their values. An empty variable counts as unset. An unknown variable that begins with `SERVICE_`, `BACKUP_`, `SMTP_`, `SUPERADMIN_` or `CORS_` is ignored; a warning on standard error suggests the nearest setting. With an incomplete feature, such as a bucket without an endpoint, the server does not start. `coffer-server check` prints every setting with its source, and tests the services that they name: see [operations](operations/check.md). `…_FILE` names a file with the value (one trailing newline is removed); setting both forms is an error.",
    ...groups,
    "### For the offline commands",
    "`coffer-server session` and `coffer-server restore` need only `SERVICE_MASTER_KEY` and `SERVICE_DB_PATH` or `SERVICE_DATABASE_URL`. `coffer master-key rotate` reads the old key from `SERVICE_MASTER_KEY` and the new one from `SERVICE_NEW_MASTER_KEY` (each also as `…_FILE` or `…_COMMAND`), or from standard input. `--out` names a new file for the new key: see [operations](operations/rotate.md#rotate-the-master-key).",
    "## The clients",
    "Precedence of each setting of `coffer` and `coffer-mcp`: the flag or the tool's parameter, the variable, `service.yml` in the working directory or its parents, up to the root of the repository. A `service.yml` takes the settings that it does not have from those above it. The options take a path for several names at once: `--env webshop/dev`, `--env acme/webshop/dev` and `--project acme/webshop`. A name that a path and another option give differently is an error. `coffer doctor` shows each setting with where it comes from.",
    table(
      ["variable", "meaning", "default"],
      clients.map(([name, meaning, fallback]) => [`\`${name}\``, meaning, fallback || "none"])
    ),
    "All commands and the tool server use the same network settings: `NODE_EXTRA_CA_CERTS` names a file with further certificate authorities. With Node 22.21, 24.5 or later, `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` apply, except for a server on the same machine.",
    "### Headers for what is before the server",
    "A login proxy or a mesh before the server may want headers of its own with each request. `coffer`, `coffer-mcp` and `@coffer/client` send those of `SERVICE_HEADERS_FILE` and of the variables `SERVICE_HEADER_<NAME>`:",
    "```text\n# Cloudflare Access: a service token\nCF-Access-Client-Id: 1f2e3d.access\nCF-Access-Client-Secret: 0123456789abcdef\n```",
    "- **The file** must belong to the user and be readable by nobody else (`chmod 600`), and must not be a link. Empty lines and lines that begin with `#` are skipped. It is read for each request, so a new token needs no restart. In a variable's name, `_` stands for `-`. `service.yml` cannot set headers.",
    "- **They go to the server alone**, and only where the credential may go. They are not sent to an untrusted server of `service.yml`, to the address of a redirect, or to the platform that gives an identity token.",
    "- **A value** is printable ASCII. `coffer doctor` lists the names with `***`, `coffer run` does not pass the variables on, and no message shows a value.",
    "- **Not allowed** are `host`, `authorization`, `cookie`, `x-api-key`, `x-vault-…`, `x-coffer-…`, `user-agent`, `prefer`, `expect`, `range`, `accept-…`, `content-…`, `if-…`, `sec-…`. Nor is what belongs to a connection, such as `connection`, `te`, `transfer-encoding` and `upgrade`. Identity-Aware Proxy of Google takes its token as `Proxy-Authorization: Bearer …`, which is allowed.",
    "[The tool server](mcp.md#configuration) has six more: `SERVICE_MCP_READ_ONLY`, `SERVICE_MCP_REVEAL`, `SERVICE_MCP_PIN`, `SERVICE_MCP_EXTRA`, `SERVICE_MCP_TOOLS` and `SERVICE_MCP_USE`. `coffer login` stores its sessions in `${XDG_CONFIG_HOME:-~/.config}/coffer/session`, one per server.",
    "`service.yml` may contain only these keys:",
    '```yaml\nserver_url: "https://coffer.example.com"\norg: "acme"\nproject: "webshop"\nenv: "dev"\nallow_env: ["NODE_OPTIONS"]\nhelpers:\n  git:\n    github.com: { username: "x-access-token", key: "GITHUB_TOKEN" }\nleases:\n  DB: "app-role"\n```',
    "`allow_env` names keys that `coffer run` passes on although they make other programs run code: see [running a program](run.md#which-variables-the-program-sees). It applies only while the file is trusted, by `coffer init --allow-env` or by `coffer trust` without an address, and has not changed since.",
    "`helpers` names the secrets that `coffer helper` gives to git and Docker, by host: see [credential helpers](connect/helpers.md). It too applies only while the file is trusted.",
    "`leases` names the roles by which `coffer run` leases users of databases, as `--lease DB=app-role` does: see [leases](leases.md). An option of the same name wins. It too applies only while the file is trusted.",
    "A cloned repository must not choose who gets your API key. So a server that comes from `service.yml` gets the key only if it is this machine or trusted, by `coffer login`, `coffer init` or `coffer trust URL`."
  ].join("\n\n")
}

/** A handwritten page with a generated table of settings. */
const observability = async () => {
  const text = await readFile(new URL("../docs/observability.md", import.meta.url), "utf8")
  const variables = described.flatMap(({ title, variables }) =>
    variables.filter(({ variable }) => title === "Logs, audit and traces" || variable === "SERVICE_METRICS_PORT")
  )
  const written = await settingsTable(variables)
  return text.replace(/(<!-- Settings: .*? -->\n)[^]*?(\n<!-- End of settings\. -->)/, (_, start, end) =>
    [start, written, end].join("\n")
  )
}

const pages = {
  "docs/api.md": api(),
  "docs/configuration.md": await configuration(),
  "docs/observability.md": await observability()
}
const stale = []
for (const [name, text] of Object.entries(pages)) {
  const file = new URL(`../${name}`, import.meta.url)
  const formatted = await format(text, { ...(await resolveConfig(file)), parser: "markdown" })
  if (!process.argv.includes("--check")) await writeFile(file, formatted)
  else if (formatted !== (await readFile(file, "utf8").catch(() => ""))) stale.push(name)
}
if (stale.length > 0) {
  process.stderr.write(`stale: ${stale.join(", ")}; run: npm run generate\n`)
  process.exitCode = 1
}
