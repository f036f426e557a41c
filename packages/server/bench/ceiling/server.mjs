/**
 * The performance ceiling: a hand-written server on `node:http`, better-sqlite3 and `node:crypto`. For three endpoints it
 * does the same work as Coffer: statements, decryption, batched hash-chained audit log, and a commit on disk per write.
 * It has no router, schemas, limits or log, and only the errors 401, 403 and 404. It uses Coffer's database:
 *
 *     CEILING_DB=service.db CEILING_MASTER_KEY=… node server.mjs
 */
import { createServer } from "node:http"
import { hash } from "node:crypto"
import { openAudit } from "./audit.mjs"
import { openDatabase, statements } from "./database.mjs"
import { openKeys } from "./keys.mjs"

const path = process.env.CEILING_DB
const writer = openDatabase(path)
const reader = openDatabase(path, { readonly: true })
const keys = openKeys(process.env.CEILING_MASTER_KEY)
const read = statements.read(reader)
const write = statements.write(writer)
const audit = openAudit(writer, keys.auditKey(writer))

const compiled = new Map()
const matches = (pattern, name) => {
  if (pattern === "*" || pattern === name) return true
  let shape = compiled.get(pattern)
  if (shape === undefined) {
    shape = new RegExp(`^${pattern.replace(/\*/g, ".*").replace(/\?/g, ".")}$`)
    compiled.set(pattern, shape)
  }
  return shape.test(name)
}

const levels = { read: 0, write: 1, admin: 2 }

/** Returns the place and the caller of a request, or the status of the error if the rules deny it. */
const enter = (request, [, , , org, , project, , env], permission) => {
  const key = request.headers["x-api-key"]
  const actor = key === undefined ? undefined : read.actor.get(hash("sha256", key, "hex"), new Date().toISOString())
  if (actor === undefined) return 401
  const rows = read.place.all(actor.account_id, project, env, actor.account_id, org)
  const row = rows[0]
  if (row === undefined || row.org_id !== actor.org_id || row.env_id === null) return 404
  const allowed = rows.some(
    (rule) =>
      rule.rule_id !== null &&
      levels[rule.permission] >= levels[permission] &&
      matches(rule.project_pattern, project) &&
      matches(rule.env_pattern, env)
  )
  return allowed ? { actor, ...row } : 403
}

const entry = (request, place, action, resource_type, resource_id, metadata) => ({
  id: crypto.randomUUID(),
  log: place.org_id,
  org_id: place.org_id,
  actor_type: "service_account",
  actor_id: place.actor.account_id,
  actor_name: place.actor.name,
  action,
  resource_type,
  resource_id,
  ip_address: request.socket.remoteAddress,
  metadata: JSON.stringify(metadata)
})

const readSecret = (request, place, key) => {
  const row = read.secret.get(null, place.env_id, key)
  if (row === undefined) return 404
  const value = keys.open({ ...place, secret_id: row.id, key, version: row.version }, row)
  audit.later(entry(request, place, "secret.read", "secret", row.id, { key, version: row.version }))
  return { key, value, version: row.version }
}

const readBundle = (request, place) => {
  read.revision.get(place.env_id)
  const rows = read.bundle.all(place.env_id)
  const { revision } = read.revision.get(place.env_id)
  const data = rows.map((row) => ({
    key: row.key,
    value: keys.open({ ...place, secret_id: row.id, key: row.key, version: row.version }, row),
    version: row.version,
    updated_at: row.updated_at
  }))
  const listed = data.map(({ key, version }) => ({ key, version }))
  audit.later(entry(request, place, "secret.read", "env", place.env_id, { revision, keys: listed }))
  return { revision, data }
}

const writeSecret = writer.transaction((request, place, key, value) => {
  const at = new Date().toISOString()
  const totals = write.nextRevision.get(place.env_id)
  const current = write.findLive.get(place.env_id, key)
  const id = current?.id ?? crypto.randomUUID()
  const version = (current?.version ?? 0) + 1
  if (current === undefined) write.insertSecret.run(id, place.env_id, key, at, at)
  else write.setVersion.run(version, at, id)
  const bytes = Buffer.from(value)
  const sealed = keys.seal({ ...place, secret_id: id, key, version }, bytes)
  write.insertVersion.run({
    secret_id: id,
    version,
    revision: totals.revision,
    value_bytes: bytes.length,
    created_by: place.actor.name,
    created_at: at,
    ...sealed
  })
  write.setTotals.run(
    totals.revision,
    totals.secret_count + (current === undefined ? 1 : 0),
    totals.value_bytes - (current?.value_bytes ?? 0) + bytes.length,
    place.env_id
  )
  audit.now([entry(request, place, "secret.set", "secret", id, { key, version })])
  return { key, version, created_at: current?.created_at ?? at, updated_at: at }
})

const send = (response, answer) => {
  const text = JSON.stringify(typeof answer === "number" ? { error: answer } : answer)
  response.writeHead(typeof answer === "number" ? answer : 200, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store"
  })
  response.end(text)
}

const server = createServer((request, response) => {
  if (request.url === "/health") return send(response, { status: "ok" })
  const parts = request.url.split("/")
  const isWrite = request.method === "PUT"
  const place = enter(request, parts, isWrite ? "write" : "read")
  if (typeof place === "number") return send(response, place)
  if (parts[8] === "bundle") return send(response, readBundle(request, place))
  if (!isWrite) return send(response, readSecret(request, place, parts[9]))
  const chunks = []
  request.on("data", (chunk) => chunks.push(chunk))
  request.on("end", () => {
    const { value } = JSON.parse(Buffer.concat(chunks).toString())
    send(response, writeSecret.immediate(request, place, parts[9], value))
  })
})

server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`)
})
process.once("SIGTERM", () => {
  server.close()
  server.closeAllConnections()
  audit.flush()
  reader.close()
  writer.close()
})
