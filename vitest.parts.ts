import { readdirSync } from "node:fs"
import { join } from "node:path"

/** Run each time: they fail for an endpoint or a command that they do not know. */
const always = ["cli documents/Commands.long.test.ts", "server documents/ContractFields.long.test.ts"]

const chosen = (text: string) => {
  const [, part, parts] = (/^([1-9]|1[0-9])\/([1-9]|1[0-9])$/.exec(text) ?? []).map(Number)
  if (part === undefined || parts === undefined || part > parts) {
    throw new Error(`COFFER_PART is one part of several, such as 2/10, and not ${text}`)
  }
  return { part, parts }
}

/**
 * The files of a project that belong to another part of the long tier. `COFFER_PART=2/10` runs each fast file, and of the long tier
 * a tenth: a run of CI takes minutes, and those of ten hours take each file. Without the variable all files run.
 *
 * @param isOfLongTier Whether a file such as `audit/Archives.test.ts` is of the long tier in this project.
 */
export const filesOfOtherParts = (
  project: string,
  folder: string,
  isOfLongTier = (file: string) => file.includes(".long.")
): ReadonlyArray<string> => {
  const text = process.env["COFFER_PART"] ?? ""
  if (text === "") return []
  const { part, parts } = chosen(text)
  return readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.test\.tsx?$/.test(file) && isOfLongTier(file) && !always.includes(`${project} ${file}`))
    .sort()
    .filter((_file, index) => index % parts !== part - 1)
    .map((file) => `test/${file}`)
}
