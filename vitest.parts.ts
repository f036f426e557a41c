import { readdirSync } from "node:fs"
import { join } from "node:path"

/** Run each time: they fail for an endpoint, a table, a statement or a command that they do not know. */
const always = [
  "cli commands/Missing.long.test.ts",
  "cli documents/Commands.long.test.ts",
  "cli grammar/OldForms.long.test.ts",
  "client promise/Calls.long.test.ts",
  "console browser/Weight.long.test.ts",
  "mcp Lists.long.test.ts",
  "server api/Answers.long.test.ts",
  "server archives/Rules.long.test.ts",
  "server audit/Evidence.long.test.ts",
  "server database/sqlite/Schema.long.test.ts",
  "server documents/ContractFields.long.test.ts",
  "server documents/SupplyChain.long.test.ts",
  "server model/Plans.long.test.ts"
]

/** The seconds of the files that take longest, of four at a time on two cores. A file that is not here counts as `usual`. */
const seconds: Readonly<Record<string, number>> = {
  "cli Commands.long.test.ts": 53,
  "cli Watch.long.test.ts": 100,
  "cli commands/Errors.long.test.ts": 70,
  "cli commands/ToolImport.long.test.ts": 66,
  "cli commands/UseProxy.long.test.ts": 150,
  "cli release/System.long.test.ts": 225,
  "client promise/Packed.long.test.ts": 51,
  "console browser/Controls.long.test.ts": 71,
  "console browser/Matrix.long.test.ts": 92,
  "console browser/Renewal.long.test.ts": 55,
  "console browser/WaysOut.long.test.ts": 58,
  "console browser/WholeMatrix.long.test.ts": 73,
  "postgres postgres/ArchivesShared.long.test.ts": 150,
  "postgres postgres/Workers.long.test.ts": 110,
  "postgres requests/Votes.long.test.ts": 110,
  "postgres upgrades/Upgrades.long.test.ts": 107,
  "server authorization/Tenants.long.test.ts": 68,
  "server backups/Backups.long.test.ts": 69,
  "server backups/Program.long.test.ts": 60,
  "server delivery/Kinds.long.test.ts": 50,
  "server fairness/Strangers.long.test.ts": 60,
  "server identities/SingleSignOn.long.test.ts": 76,
  "server leases/Leases.long.test.ts": 52,
  "server mcp/QuestionsKilled.long.test.ts": 150,
  "server requests/Order.long.test.ts": 52,
  "server rotations/KilledServers.long.test.ts": 120,
  "server stall/Stalls.long.test.ts": 390
}
const usual = 30

const chosen = (text: string) => {
  const [, part, parts] = (/^([1-9]|[12]\d)\/([1-9]|[12]\d)$/.exec(text) ?? []).map(Number)
  if (part === undefined || parts === undefined || part > parts) {
    throw new Error(`COFFER_PART is one part of several, such as 2/15, and not ${text}`)
  }
  return { part, parts }
}

interface Project {
  readonly name: string
  /** Whether a file such as `test/audit/Archives.long.test.ts` is of the long tier in this project. */
  readonly isOfLongTier: (file: string) => boolean
}

/** The folder of a project's tests. */
const folderOf = (name: string) => join(import.meta.dirname, "packages", name === "postgres" ? "server" : name, "test")

const longFiles = ({ isOfLongTier, name }: Project) =>
  readdirSync(folderOf(name), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.test\.tsx?$/.test(file) && isOfLongTier(`test/${file}`))
    .filter((file) => !always.includes(`${name} ${file}`))
    .map((file) => ({ file, name, takes: seconds[`${name} ${file}`] ?? usual }))

/**
 * The files of a project that belong to another part of the long tier. `COFFER_PART=2/15` runs each fast file, and of the long tier
 * the second of fifteen parts that take about as long: a run of CI takes minutes, and those of fifteen hours take each file.
 * Without the variable all files run.
 */
export const filesOfOtherParts = (projects: ReadonlyArray<Project>): ((project: string) => ReadonlyArray<string>) => {
  const text = process.env["COFFER_PART"] ?? ""
  if (text === "") return () => []
  const { part, parts } = chosen(text)
  const loads = Array.from({ length: parts }, () => 0)
  const inName = (one: { file: string }, other: { file: string }) => (one.file < other.file ? -1 : 1)
  const others = projects
    .flatMap(longFiles)
    .sort((one, other) => other.takes - one.takes || inName(one, other))
    .filter(({ takes }) => {
      const least = loads.indexOf(Math.min(...loads))
      loads[least] = (loads[least] ?? 0) + takes
      return least !== part - 1
    })
  return (project) => others.filter(({ name }) => name === project).map(({ file }) => `test/${file}`)
}
