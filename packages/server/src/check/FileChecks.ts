import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Either } from "effect"
import { exposedSecrets } from "../config/Exposed.js"
import type { Environment } from "../config/Variables.js"
import { reasonOf } from "../database/Reason.js"
import { failed, type Finding, ok, warning } from "./Finding.js"

const mebibyte = 1024 * 1024
const forOthers = 0o077
const writableByOthers = 0o022

const isOfDatabase = (dbPath: string) => (name: string) =>
  name === basename(dbPath) || name.startsWith(`${basename(dbPath)}-`) || name.startsWith(`${basename(dbPath)}.`)

const modes = (dbPath: string, environment: Environment): ReadonlyArray<Finding> => {
  const folder = dirname(dbPath)
  const exposed = readdirSync(folder)
    .filter(isOfDatabase(dbPath))
    .map((name) => join(folder, name))
    .filter((path) => (statSync(path).mode & forOthers) !== 0)
  const findings = [
    ...(exposed.length === 0
      ? []
      : [failed("files", `${exposed.join(", ")} can be read or written by others`, `chmod 600 ${exposed.join(" ")}`)]),
    ...((statSync(folder).mode & writableByOthers) === 0
      ? []
      : [failed("files", `${folder} can be written by others`, `chmod go-w ${folder}`)]),
    ...exposedSecrets(environment).map((variable) =>
      warning(
        "files",
        `everybody on this machine may read the file of ${variable}`,
        "chmod o-rwx that file, unless a container mounts it for the server alone"
      )
    )
  ]
  return findings.length > 0 ? findings : [ok("files", "the database and the files of secrets are not for others")]
}

const access = (folder: string): ReadonlyArray<Finding> =>
  Either.match(
    Either.try(() => {
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    }),
    {
      onLeft: () => [
        failed("files", `${folder} cannot be written by this user`, "run the check, and the server, as the owner of it")
      ],
      onRight: () => []
    }
  )

/** A backup needs room for a copy of the database beside it; a rotation and a migration do too. */
const space = (dbPath: string): Finding => {
  const { bavail, blocks, bsize } = statfsSync(dirname(dbPath))
  const free = bavail * bsize
  const size = existsSync(dbPath) ? statSync(dbPath).size : 0
  const message = `${Math.floor(free / mebibyte)} MiB of the disk are free, and the database has ${Math.ceil(size / mebibyte)} MiB`
  if (free < size + 16 * mebibyte) {
    return failed("disk", message, "make room: docs/operations.md, When the disk is full")
  }
  return bavail < blocks / 4 || free < 2 * size
    ? warning("disk", message, "make room, or a larger disk, before it is full")
    : ok("disk", message)
}

/** Checks the modes of files and the free room. */
export const fileChecks = (dbPath: string, environment: Environment): ReadonlyArray<Finding> => {
  const folder = dirname(dbPath)
  return Either.getOrElse(
    Either.try({
      try: () => [...access(folder), ...modes(dbPath, environment), space(dbPath)],
      catch: reasonOf
    }),
    (reason) => [
      failed("files", `${folder} cannot be looked at: ${reason}`, "correct SERVICE_DB_PATH, or create its directory")
    ]
  )
}
