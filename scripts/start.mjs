/**
 * `npm start`: runs the server, and creates a configuration in `.env` if there is none. The server itself reads only
 * environment variables.
 */
import { randomBytes } from "node:crypto"
import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseEnv } from "node:util"

const file = fileURLToPath(new URL("../.env", import.meta.url))

/** Creates `.env`, unless it exists. */
const create = () => {
  const key = randomBytes(32).toString("hex")
  try {
    writeFileSync(file, `SERVICE_MASTER_KEY=${key}\nSMTP_HOST=log\n`, { flag: "wx", mode: 0o600 })
  } catch (error) {
    if (error.code === "EEXIST") return
    throw error
  }
  process.stderr.write(
    `Created .env with a fresh master key and SMTP_HOST=log: login codes appear in this log and are not mailed.\n` +
      `Keep a copy of .env in a safe place: without its master key, the stored secrets cannot be decrypted.\n`
  )
}

/** Returns the variables of `.env`; none if it does not exist. */
const read = () => {
  let descriptor
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  } catch (error) {
    if (error.code === "ENOENT") return {}
    if (error.code === "ELOOP")
      throw new Error(`${file} is a symbolic link: put the file itself there`, { cause: error })
    throw error
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw new Error(`${file} is not a file`)
    if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
      throw new Error(`${file} holds the master key and others can read it: run "chmod 600 .env" and start again`)
    }
    return parseEnv(readFileSync(descriptor, "utf8"))
  } finally {
    closeSync(descriptor)
  }
}

/** Returns the other form of a setting, with or without `_FILE`. A form in the environment overrides both in `.env`. */
const otherForm = (name) => (name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`)

try {
  const environment = new Set(Object.keys(process.env))
  const has = (name) => environment.has(name) || environment.has(otherForm(name))
  if (!has("SERVICE_MASTER_KEY")) create()
  for (const [name, value] of Object.entries(read())) if (!has(name)) process.env[name] = value
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}

await import("../packages/server/bin/coffer-server.js")
