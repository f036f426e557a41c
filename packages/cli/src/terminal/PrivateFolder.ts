import { variable, Variables } from "@coffer/client/internal/Variables"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CannotDo } from "../base/Failures.js"

const makeFolderIn = (prefix: string) =>
  Option.liftThrowable((parent: string) => mkdtempSync(join(parent, `coffer-${prefix}-`)))

/** Makes a folder for this user alone: in memory where the system offers that, so that no disk holds the values. */
export const makePrivateFolder = (prefix: string): Effect.Effect<string, CannotDo> =>
  Effect.flatMap(Variables, (env) => {
    const runtime = variable(env, "XDG_RUNTIME_DIR")
    const parents = [...(runtime?.startsWith("/") === true ? [runtime] : []), "/dev/shm", tmpdir()]
    return Effect.mapError(
      Array.findFirst(parents, makeFolderIn(prefix)),
      () =>
        new CannotDo({
          message: "no temporary folder can be made; set XDG_RUNTIME_DIR or TMPDIR to a folder of yours"
        })
    )
  })

/** Overwrites a file with zeros. A symbolic link may lead to a file of others. */
const overwrite = Option.liftThrowable((path: string) => {
  const found = lstatSync(path)
  if (found.isFile()) writeFileSync(path, Buffer.alloc(found.size), { flag: "r+", flush: true })
})

const namesIn = Option.liftThrowable((folder: string) => readdirSync(folder, { recursive: true, encoding: "utf8" }))
const removeAll = Option.liftThrowable((folder: string) => rmSync(folder, { recursive: true, force: true }))

/** Overwrites and removes a folder's files, also those that other programs made there. */
export const removePrivateFolder = (folder: string): void => {
  const names = Option.getOrElse(namesIn(folder), (): ReadonlyArray<string> => [])
  for (const name of names) overwrite(join(folder, name))
  removeAll(folder)
}
