import { mkdtempSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Ran } from "./Run.js"

/** With what a client comes: it takes what it can. */
export interface By {
  readonly url: string
  readonly folder: string
  /** As `organization/account`. */
  readonly role: string
  readonly key: string
  /** The token of a login with the key. */
  readonly token: string
  /** The token of a pod. */
  readonly jwt: string
  readonly namespace: string
}

export interface Client {
  readonly isThere: boolean
  /** Its message about an environment that does not exist. */
  readonly absent: RegExp
  /** Its message about an invalid credential, if it is not the view's. */
  readonly refused?: RegExp
  /** Prints DATABASE_URL of an environment of the project webshop. */
  readonly read: (by: By, env: string) => Promise<Ran>
  /** Like `read`, twice in one session with `between` between. */
  readonly again?: (by: By, between: () => Promise<void>) => Promise<Ran>
  readonly list?: (by: By) => Promise<Ran>
  readonly write?: (by: By) => Promise<Ran>
  /** Renews the token; one that goes on by itself ends with `until`. */
  readonly renew?: (by: By, until: Promise<void>) => Promise<Ran>
  /** Makes 1,000 reads: by itself, or by ten runs that read the hundred environments of `many`. */
  readonly many?: (by: By, many: ReadonlyArray<string>) => Promise<Ran>
}

/** A folder for one run. */
export const fresh = (by: By): string => mkdtempSync(join(by.folder, "run-"))

/** Writes a file; returns its path. */
export const file = (folder: string, name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
