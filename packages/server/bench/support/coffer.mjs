import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { onServerCore } from "./machine.mjs"
import { start } from "./process.mjs"
import { root } from "./version.mjs"

export const program = join(root, "packages/server/bin/coffer-server.js")
const probe = fileURLToPath(new URL("probe.mjs", import.meta.url))
/** The server, whose fibers' steps can be counted. */
export const counted = fileURLToPath(new URL("counted.mjs", import.meta.url))

export const masterKey = "c0ffee".padEnd(64, "0")

/** Settings of a server with its files in this folder, and with a database there or at a URL. */
export const settings = (folder, databaseUrl) => ({
  PATH: process.env.PATH,
  HOME: folder,
  SERVICE_MASTER_KEY: masterKey,
  SMTP_HOST: "log",
  ...(databaseUrl === undefined
    ? { SERVICE_DB_PATH: join(folder, "service.db") }
    : { SERVICE_DATABASE_URL: databaseUrl }),
  SERVICE_PORT: "0",
  SERVICE_LOG_FORMAT: "json"
})

const question = (child, name) =>
  new Promise((resolve) => {
    child.once("message", resolve)
    child.send(name)
  })

/** Starts the built `coffer-server` on its own core, with a probe that reports event-loop stalls and memory. */
export const startCoffer = async (folder, { databaseUrl, env = {}, nodeArgs = [], run = program } = {}) => {
  const command = [process.execPath, ...nodeArgs, "--import", probe, run]
  const server = start(onServerCore(command), {
    cwd: folder,
    env: { ...settings(folder, databaseUrl), ...env },
    logFile: join(folder, "server.log"),
    messages: true
  })
  const [, url] = await server.said(/listening on (http:\/\/127\.0\.0\.1:\d+)/, 120)
  return {
    ...server,
    url,
    /** The file of a SQLite database. */
    ...(databaseUrl === undefined && { database: join(folder, "service.db") }),
    /** Counts the steps and statements of fibers during some work. Only of the program `counted`. */
    countsOf: async (work) => {
      server.child.send("begin")
      await work()
      return question(server.child, "end")
    },
    /** The longest event-loop stall since the last query, in milliseconds. */
    longestStall: () => question(server.child, "stall"),
    /** Asks a module that was loaded into the server. */
    ask: (name) => question(server.child, name),
    /** The resident memory and the JavaScript heap after garbage collection, in MiB. */
    settledMemory: async () => {
      const heap = await question(server.child, "collect")
      await sleep(1000)
      return { resident: server.memory(), heap }
    }
  }
}

/** Sends a request. Throws unless the response is 2xx. */
export const ask = async (server, method, path, { body, headers = {}, key, token } = {}) => {
  const answer = await fetch(server.url + path, {
    method,
    headers: {
      ...headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(key !== undefined && { "x-api-key": key }),
      ...(body !== undefined && { "content-type": "application/json" })
    },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return { headers: answer.headers, body: text === "" ? undefined : JSON.parse(text) }
}

/** Returns the login code from the log of a server without mail. */
export const codeInLog = (server) => async (email) => {
  const [, code] = await server.said(
    new RegExp(`login code for ${email.replace(/\./g, "\\.")}: (\\d{6})(?![^]*login code for ${email})`)
  )
  return code
}

/** Logs a user in with a login code. */
export const logIn = async (server, email, codeFor = codeInLog(server)) => {
  await ask(server, "POST", "/api/auth/login", { body: { email } })
  const code = await codeFor(email)
  const { body } = await ask(server, "POST", "/api/auth/verify", { body: { email, code } })
  return body.token
}

/** The secrets of a scenario, by key. */
export const valuesOf = (count, value = (key) => `value of ${key} `.padEnd(32, "abcdefgh")) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`KEY_${index}`, value(`KEY_${index}`)]))

/**
 * A typical scenario: an organization with an owner, and a service account that reads and writes the 100 secrets of one
 * environment.
 */
export const settle = async (server, { code, owner = "ada@example.com", ...rest } = {}) =>
  settleOrg(server, await logIn(server, owner, code), rest)

/** The same in one more organization of a user. */
export const settleOrg = async (server, token, { org = "acme", secrets = 100, value } = {}) => {
  await ask(server, "POST", "/api/orgs", { token, body: { name: org } })
  await ask(server, "POST", `/api/orgs/${org}/projects`, { token, body: { name: "web" } })
  const { body: account } = await ask(server, "POST", `/api/orgs/${org}/service-accounts`, {
    token,
    body: { name: "reader" }
  })
  await ask(server, "POST", `/api/orgs/${org}/acl`, {
    token,
    body: {
      subject_type: "service_account",
      subject_id: account.id,
      project_pattern: "web",
      env_pattern: "prod",
      permission: "write"
    }
  })
  const env = `/api/orgs/${org}/projects/web/envs/prod`
  await ask(server, "PATCH", `${env}/bundle`, { token, body: { set: valuesOf(secrets, value) } })
  const keys = Object.keys(valuesOf(secrets))
  return { org, owner: token, key: account.api_key, accountId: account.id, env, keys }
}
