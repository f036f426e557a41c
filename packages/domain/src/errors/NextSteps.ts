/**
 * The next steps after a refusal: a table of the refusals of the server, each with its own step.
 * The command line tells a person the step. The tool server tells an agent what to tell its person.
 */

/** Whose credential the server has refused: that of a person, or of an account that variables name. */
export type Asker = "person" | "account"

interface Refusal {
  /** The message of the server, with the names that the next step needs. */
  readonly form: RegExp
  /** Null where nothing helps, or where the message says what does. */
  readonly next: (found: Readonly<Record<string, string>>, asker: Asker) => string | null
}

const nothing = () => null

const memberList = (org: string | undefined) =>
  org === undefined ? "" : `; coffer member list --org ${org} shows who that is`

/** Grants a rule to whoever asked. The name is that of the account in the organization, which only its people know. */
const grantLine = (org: string, project: string, env: string, permission: string, asker: Asker) => {
  const place = `${org}/${project}/${env}`
  const shown = place.includes("*") ? `'${place}'` : place
  return `an admin runs: coffer acl grant ${asker === "account" ? "account:NAME" : "YOUR_EMAIL"} ${shown} ${permission}`
}

/** The refusals of the server. The first form that fits decides. */
export const refusals: ReadonlyArray<Refusal> = [
  {
    form: /^the delegation (?<name>.+) gives at most \w+, and this needs (?<permission>\w+)/,
    next: ({ name, permission }) =>
      permission === "admin"
        ? "a delegation never gives more than write: its person has to do it"
        : `its person can make another one: coffer delegate --name '${name}' --permission ${permission}`
  },
  {
    form: /^the delegation (?<name>.+) is for environment (?<place>\S+) /,
    next: ({ name }) => `its person can make one for another place: coffer delegate ORG/PROJECT/ENV --name '${name}'`
  },
  {
    form: /^the delegation (?<name>.+) was made without values/,
    next: ({ name }) =>
      `its person can make one with values: coffer delegate --name '${name}'; coffer use sends requests with a secret that it never shows`
  },
  {
    form: /^the delegation (?<name>.+) is limited to other keys|^a delegation that is limited to keys/,
    next: ({ name = "NAME" }) =>
      `its person can make another one: coffer delegate --name '${name}' --only KEY, or without --only for all keys`
  },
  {
    form: /^a delegation never does this/,
    next: () => "its person runs the command at a terminal, where their session counts"
  },
  {
    form: /a rule denies \w+ for (?:key (?<key>\S+) of )?environment (?<project>[^\s/]+)\/(?<env>\S+) of organization (?<org>[^\s,]+)/,
    next: ({ env = "", key, org = "", project = "" }, asker) => {
      const who = asker === "account" ? "account:NAME" : "YOUR_EMAIL"
      const line = `coffer acl explain ${who} ${org}/${project}/${env}`
      return `${key === undefined ? line : `${line} --key ${key}`} names the rule, which an admin can revoke`
    }
  },
  {
    form: /needs a rule with permission (?<permission>\w+) for (?:all keys|key (?<key>\S+)) of environment (?<project>[^\s/]+)\/(?<env>\S+) of organization (?<org>[^\s,]+)/,
    next: ({ env = "", key, org = "", permission = "", project = "" }, asker) =>
      `${grantLine(org, project, env, permission, asker)}${key === undefined ? "" : ` --key ${key}`}`
  },
  {
    form: /needs a rule with permission (?<permission>\w+) for environment (?<project>[^\s/]+)\/(?<env>\S+) of organization (?<org>\S+)/,
    next: ({ env = "", org = "", permission = "", project = "" }, asker) =>
      asker === "account"
        ? grantLine(org, project, env, permission, asker)
        : `ask for it with: coffer access request ${org}/${project}/${env} ${permission} --for 1h --reason WHY`
  },
  {
    form: /needs a rule with permission (?<permission>\w+) for project (?<project>\S+) of organization (?<org>\S+)/,
    next: ({ org = "", permission = "", project = "" }, asker) => grantLine(org, project, "*", permission, asker)
  },
  {
    form: /needs a rule with permission (?<permission>\w+) for organization (?<org>\S+)/,
    next: ({ org = "", permission = "" }, asker) => grantLine(org, "*", "*", permission, asker)
  },
  {
    form: /needs at least the role (?<role>\w+) in organization (?<org>[^\s,]+), whatever the rules/,
    next: ({ org, role }) => `an admin runs: coffer member set-role YOUR_EMAIL ${role} --org ${org}`
  },
  {
    form: /a service account without a project that has an admin rule, in organization (?<org>\S+)/,
    next: ({ org = "" }, asker) =>
      asker === "account"
        ? grantLine(org, "*", "*", "admin", asker)
        : `ask an administrator of the organization${memberList(org)}`
  },
  {
    form: /a service account never has a role/,
    next: () => "a person has to do it: unset SERVICE_API_KEY, then run coffer login"
  },
  {
    form: /reveal: false and is never given a value/,
    next: () =>
      "an admin can make an account without --no-reveal; coffer use sends requests with a secret that it never shows"
  },
  { form: /needs a person|a person has to/, next: nothing },
  { form: /only superadmins create organizations/, next: nothing },
  { form: /superadmin/, next: () => "ask a superadmin of the server" },
  {
    form: /^another owner (?:approves an|has to approve this) export/,
    next: () => "coffer request list names the export; the other owner runs: coffer request approve ID"
  },
  {
    form: /^only the owner who asked for an export reads it/,
    next: () => "make one of your own with: coffer org export"
  },
  {
    form: /^only whoever asked withdraws a request/,
    next: () => "who may vote can end it with: coffer request refuse ID"
  },
  {
    form: /role owner(?: in organization (?<org>[^\s,]+))?$/,
    next: () => "ask an owner of the organization"
  },
  { form: /an owner/, next: () => "ask an owner of the organization" },
  {
    form: /role (?:admin|developer|member)(?: in organization (?<org>[^\s,:]+))?/,
    next: ({ org }) => `ask an administrator of the organization${memberList(org)}`
  }
]

/** The next step after a refusal. A message that no form fits speaks for itself. */
export const afterRefusal = (message: string, asker: Asker): string | undefined => {
  for (const { form, next } of refusals) {
    const found = form.exec(message)
    if (found !== null) return next(found.groups ?? {}, asker) ?? undefined
  }
  return undefined
}

/** Whether the server's message says what to do next. */
export const saysNext = (message: string): boolean => /: (?:ask|contact|log in|register|run) /.test(message)

/** Whether a message says which command comes next, as that about a passkey; earlier servers write "by coffer reauthenticate". */
export const namesCommand = (message: string): boolean => /(?:\(| by )coffer /.test(message)
