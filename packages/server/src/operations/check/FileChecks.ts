import { existsSync, readdirSync, statfsSync, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import * as Either from "effect/Either"
import type { Settings } from "../../base/Config.js"
import { exposedSecrets } from "../../base/config/Exposed.js"
import type { Environment } from "../../base/config/Variables.js"
import { isOwn, usableDirectory } from "../../base/files/Permission.js"
import { reasonOf } from "../../base/Reason.js"
import { isGuarded } from "../../database/sqlite/DatabaseFile.js"
import { judgeSpace } from "./DiskSpace.js"
import { failed, type Finding, ok, warning } from "./Finding.js"

const mebibyte = 1024 * 1024
const forOthers = 0o077
const writableByOthers = 0o022
const writableByAll = 0o002

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

/** Files that others can read or write. A server that starts mends the modes of its own. */
const exposedOf = (dbPath: string): ReadonlyArray<Finding> => {
  const folder = dirname(dbPath)
  const exposed = readdirSync(folder)
    .filter(isOfDatabase(dbPath))
    .map((name) => join(folder, name))
    .filter((path) => (statSync(path).mode & forOthers) !== 0)
  if (exposed.length === 0) return []
  const found = exposed.every((path) => isGuarded(dbPath, path) && isOwn(statSync(path))) ? warning : failed
  return [found("files", `${exposed.join(", ")} can be read or written by others`, `chmod 600 ${exposed.join(" ")}`)]
}

/** The directory of a pod's volume with `fsGroup` belongs to root, and is writable by that group. */
const folderModes = (folder: string): ReadonlyArray<Finding> => {
  const { gid, mode, uid } = statSync(folder)
  if ((mode & writableByOthers) === 0) return []
  const isOfGroup = (mode & writableByAll) === 0 && uid === 0 && (process.getgroups?.() ?? []).includes(gid)
  return isOfGroup
    ? [
        warning(
          "files",
          `every member of the group ${gid} can write ${folder}`,
          `chmod g-w ${folder}, unless it is a pod's volume with an fsGroup that no other pod has`
        )
      ]
    : [failed("files", `${folder} can be written by others`, `chmod go-w ${folder}`)]
}

const modes = (dbPath: string, environment: Environment): ReadonlyArray<Finding> => {
  const findings = [...exposedOf(dbPath), ...folderModes(dirname(dbPath)), ...exposedFiles(environment)]
  return findings.length > 0 ? findings : [ok("files", "no other user can access the database or the files of secrets")]
}

const access = (folder: string): ReadonlyArray<Finding> =>
  Either.match(usableDirectory(folder), {
    onLeft: (reason) => [failed("files", `${folder} ${reason}`, "run the check and the server as its owner")],
    onRight: () => []
  })

const space = (dbPath: string): Finding => {
  const { bavail, blocks, bsize } = statfsSync(dirname(dbPath))
  const database = existsSync(dbPath) ? statSync(dbPath).size : 0
  return judgeSpace({ free: bavail * bsize, total: blocks * bsize, database })
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
