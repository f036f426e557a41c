import type { Rollup } from "vite"

const api = (groups: string) => `/domain/dist/api/(?:${groups})Api\\.js$`
const pages = (names: string) => `/console/src/pages/(?:${names})`

/**
 * The scripts of the console besides those that Rollup makes: modules that are wanted together, by their path. A script
 * compresses what its modules have in common, and costs a request, so what most pages load is in `index`. The first row that
 * fits counts.
 */
const rows: ReadonlyArray<readonly [name: string, path: string]> = [
  ["early", "/console/src/early\\.ts$"],
  ["yaml", "/yaml/browser/dist/(?!index|parse/cst-)|/domain/dist/formats/(?:tools/)?Yaml\\w*\\.js$"],
  ["formats", "/dotenv/|/domain/dist/formats/|/domain/dist/secrets/(?:DangerousVariables|Reference)\\.js$"],
  ["formats", "/pages/matrix/(?:bulk/|import/|(?:ImportDialog|NewKeyDialog|Paste|RemovedRows|ReviewDialog)\\.)"],
  ["palette", "/console/src/(?:kit/AskAccessDialog|shell/ApprovalDialog)\\.tsx$"],
  ["palette", "/console/src/palette/"],
  ["machines", "/console/src/client/PasskeyCeremonies\\.ts$"],
  ["palette", "/console/src/kit/Attention\\.tsx$"],
  ["index", "/console/src/(?:client/(?!PasskeyCeremonies)|kit/|routing/|staging/|state/)"],
  ["index", "/domain/dist/(?:base/(?:Csv|PatternMatch)|requests/RequestSummary)\\.js$"],
  ["index", "/domain/dist/api/(?:AskingHeaders|Paths|Requirement|Response)\\.js$"],
  ["index", api("Approvals|Auth|Declared|Dues|Environments|Organizations|Overview|Requests|Secrets|Server|Trash")],
  ["places", api("Acl|History|Keys|Members|Previews|Projects|Protections")],
  ["wizard", "/pages/secret/(?:DeclareForm|Placement|UseForm)\\."],
  ["uses", `${api("UseRules")}|/pages/secret/`],
  ["machines", api("Audit|Webhooks")],
  [
    "delivery",
    `${api("Targets|Rotations|Leases|LeaseRoles|Connections")}|/domain/dist/secrets/Target|/pages/(?:renewal|targets)/`
  ],
  ["machines", api("Backups|Delegations|Federations|Groups|Passkeys|ServiceAccounts|System|Users")],
  ["palette", pages("organizations|projects")],
  ["wizard", "/pages/accounts/(?:Federation|Keyless|Kinds|Pod|Program|Recipe|TryToken|Wizard)"],
  ["wizard", "/pages/members/Invit|/pages/account/NewDelegation\\."],
  ["wizard", "/domain/dist/guides/|/console/package\\.json$"],
  ["people", `${pages("groups|members/(?!Invit)|org-settings")}|/domain/dist/access/Invitations\\.js$`],
  ["rights", `${pages("accounts|rules|who")}|/domain/dist/access/HolderCsv\\.js$`],
  ["operator", `${api("Consents")}|${pages("account/(?!NewDelegation)|authorize|backups|server|users")}`],
  ["changes", pages("history|promote|webhooks")]
]

const patterns = rows.map(([name, path]) => [name, new RegExp(path)] as const)

const chunkOf = (id: string) => patterns.find(([, pattern]) => pattern.test(id))?.[0]

/** The modules that are loaded with some others. */
const loadedWith = (ids: ReadonlyArray<string>, { getModuleInfo }: Rollup.ManualChunkMeta): ReadonlySet<string> => {
  const found = new Set(ids)
  // The set grows while the loop walks it.
  for (const id of found) for (const one of getModuleInfo(id)?.importedIds ?? []) found.add(one)
  return found
}

/** The order in which the parts of the contract belong to its groups: most wanted first. */
const byWant = ["early", "index", "places", "machines", "uses"] as const

/** Returns the function that names the chunk of a module; undefined leaves it to Rollup. */
export const manualChunks = (): Rollup.GetManualChunk => {
  let groups: ReadonlyArray<readonly [name: string, modules: ReadonlySet<string>]> | undefined
  return (id, meta) => {
    if (groups === undefined) {
      const ids = [...meta.getModuleIds()]
      const isOf = (name: string) => (one: string) =>
        chunkOf(one) === name || (name === "index" && /\/console\/(?:index\.html|src\/main\.tsx)$/.test(one))
      groups = byWant.map((name) => [name, loadedWith(ids.filter(isOf(name)), meta)])
    }
    const isPart =
      /\/console\/(?:index\.html$|src\/(?!pages\/))|\/domain\/dist\/(?!formats\/|guides\/)|\/node_modules\//.test(id)
    const group = groups.find(([, modules]) => modules.has(id))?.[0]
    return group === "early" || group === "index" ? group : (chunkOf(id) ?? (isPart ? group : undefined))
  }
}
