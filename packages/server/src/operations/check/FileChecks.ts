import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { Either } from "effect"
import type { Settings } from "../../base/Config.js"
import { exposedSecrets } from "../../base/config/Exposed.js"
import type { Environment } from "../../base/config/Variables.js"
import { reasonOf } from "../../base/Reason.js"
import { failed, type Finding, ok, warning } from "./Finding.js"

const mebibyte = 1024 * 1024
const forOthers = 0o077
const writableByOthers = 0o022

const isOfDatabase = (dbPath: string) => (name: string) =>
  name === basename(dbPath) || name.startsWith(`${basename(dbPath)}-`) || name.startsWith(`${basename(dbPath)}.`)

const exposedFiles = (environment: Environment): ReadonlyArray<Finding> =>
  exposedSecrets(environment).map((variable) =>
    warning(
      "files",
      `every user of this machine can read the file of ${variable}`,
      "chmod o-rwx that file, unless a container mounts it for the server alone"
    )
  )

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
    ...exposedFiles(environment)
  ]
  return findings.length > 0 ? findings : [ok("files", "no other user can access the database or the files of secrets")]
}

const access = (folder: string): ReadonlyArray<Finding> =>
  Either.match(
    Either.try(() => {
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    }),
    {
      onLeft: () => [
        failed("files", `${folder} cannot be written by this user`, "run the check and the server as its owner")
      ],
      onRight: () => []
    }
  )

/** A backup, a rotation and a migration each need room for a copy of the database. */
const space = (dbPath: string): Finding => {
  const { bavail, blocks, bsize } = statfsSync(dirname(dbPath))
  const free = bavail * bsize
  const size = existsSync(dbPath) ? statSync(dbPath).size : 0
  const message = `the disk has ${Math.floor(free / mebibyte)} MiB free, and the database is ${Math.ceil(size / mebibyte)} MiB large`
  if (free < size + 16 * mebibyte) {
    return failed("disk", message, "make room: docs/operations.md, When the disk is full")
  }
  return bavail < blocks / 4 || free < 2 * size
    ? warning("disk", message, "make room, or a larger disk, before it is full")
    : ok("disk", message)
}

const orInaccessible = (folder: string, next: string, findings: () => ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  Either.getOrElse(Either.try({ try: findings, catch: reasonOf }), (reason) => [
    failed("files", `${folder} cannot be accessed: ${reason}`, next)
  ])

/** Checks file modes and disk space of a SQLite database. */
export const fileChecks = (dbPath: string, environment: Environment): ReadonlyArray<Finding> => {
  const folder = dirname(dbPath)
  return orInaccessible(folder, "correct SERVICE_DB_PATH, or create its directory", () => [
    ...access(folder),
    ...modes(dbPath, environment),
    space(dbPath)
  ])
}

/** Checks the files of a server on PostgreSQL. It writes only backups, in its working folder, before they are stored. */
export const stagingChecks = (
  { backups, dbPath }: Pick<Settings, "backups" | "dbPath">,
  environment: Environment
): ReadonlyArray<Finding> => {
  const exposed = exposedFiles(environment)
  const files = exposed.length > 0 ? exposed : [ok("files", "no other user can read the files of secrets")]
  if (backups === null) return files
  const folder = resolve(dirname(dbPath))
  return orInaccessible(folder, "start the server in a folder that it can write", () => {
    const { bavail, bsize } = statfsSync(folder)
    const message = `the disk has ${Math.floor((bavail * bsize) / mebibyte)} MiB free in ${folder}, where backups are prepared`
    return [...access(folder), ...files, ok("disk", message)]
  })
}
