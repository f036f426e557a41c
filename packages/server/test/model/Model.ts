/**
 * A plain model of the specification's authorization, written from its pages and sharing no code with the service: arrays,
 * loops, and a matcher of its own. A call answers the status that the service owes, and changes the model when it is 200.
 */

export type Role = "owner" | "admin" | "developer" | "member"
export type Level = "read" | "write" | "admin"

export interface User {
  readonly type: "user"
  readonly n: number
  superadmin: boolean
}

export interface Key {
  readonly account: Account
  good: boolean
}

export interface Account {
  readonly type: "account"
  readonly org: Org
  readonly name: string
  readonly project: Project | null
  readonly reveal: boolean
  alive: boolean
}

export interface Secret {
  readonly key: string
  value: string
  version: number
}

export interface Env {
  readonly name: string
  secrets: Array<Secret>
}

export interface Project {
  name: string
  envs: Array<Env>
}

export interface Rule {
  readonly org: Org
  readonly subject: User | Account
  readonly project: string
  readonly env: string
  level: Level
  alive: boolean
}

export interface Org {
  name: string
  alive: boolean
  members: Array<{ readonly user: User; role: Role }>
  projects: Array<Project>
}

export interface World {
  readonly users: ReadonlyArray<User>
  orgs: Array<Org>
  accounts: Array<Account>
  keys: Array<Key>
  rules: Array<Rule>
}

/** A caller: a person, or a key of a machine. */
export type Caller = User | Key

type Answer<A = undefined> = { readonly status: 401 | 403 | 404 | 409 } | { readonly status: 200; readonly made: A }

const no = (status: 401 | 403 | 404 | 409) => ({ status }) as const
const yes = { status: 200, made: undefined } as const

/** Whether a glob matches a name: `*` is any run, `?` any one character, `{a,b}` either; all else is itself. */
export const globMatches = (glob: string, name: string): boolean => {
  const open = glob.indexOf("{")
  if (open >= 0) {
    const close = glob.indexOf("}", open)
    for (const choice of glob.slice(open + 1, close).split(",")) {
      if (globMatches(glob.slice(0, open) + choice + glob.slice(close + 1), name)) return true
    }
    return false
  }
  if (glob === "") return name === ""
  if (glob.startsWith("*")) {
    for (let taken = 0; taken <= name.length; taken++) {
      if (globMatches(glob.slice(1), name.slice(taken))) return true
    }
    return false
  }
  return name !== "" && (glob.startsWith("?") || glob[0] === name[0]) && globMatches(glob.slice(1), name.slice(1))
}

const levels = ["read", "write", "admin"]

export const liveOrg = (world: World, name: string) => world.orgs.find((org) => org.alive && org.name === name)

const roleIn = (org: Org, caller: User | Account): Role | undefined => {
  for (const member of org.members) if (member.user === caller) return member.role
  return undefined
}

/** The people or machine behind a credential, or nobody. */
const behind = (caller: Caller): User | Account | undefined => {
  if ("superadmin" in caller) return caller
  const { account, good } = caller
  const { org, project } = account
  // An account that is bound to a project ends with it.
  const isPlaced = org.alive && (project === null || org.projects.includes(project))
  return good && account.alive && isPlaced ? account : undefined
}

const isAdmin = (org: Org, who: User | Account): boolean => {
  const role = roleIn(org, who)
  return who.type === "user" && (who.superadmin || role === "admin" || role === "owner")
}

const isOwner = (org: Org, who: User | Account): boolean =>
  who.type === "user" && (who.superadmin || roleIn(org, who) === "owner")

export const knows = (org: Org, who: User | Account): boolean =>
  who.type === "user" ? who.superadmin || roleIn(org, who) !== undefined : who.org === org

const knowsProject = (project: Project, who: User | Account): boolean =>
  who.type === "user" || who.project === null || who.project === project

/** How much someone may do in an environment: 0 nothing, 1 read, 2 write, 3 admin. */
const levelAt = (world: World, org: Org, project: Project, env: Env, who: User | Account): number => {
  if (isAdmin(org, who)) return 3
  let best = 0
  for (const rule of world.rules) {
    if (!rule.alive || rule.org !== org || rule.subject !== who) continue
    if (!globMatches(rule.project, project.name) || !globMatches(rule.env, env.name)) continue
    best = Math.max(best, levels.indexOf(rule.level) + 1)
  }
  if (who.type === "user" && roleIn(org, who) === "member") return Math.min(best, 1)
  return best
}

/** Whether a machine manages a rule about a subject with these patterns. */
const machineManages = (world: World, org: Org, who: Account, rule: Pick<Rule, "subject" | "project" | "env">) => {
  if (rule.subject.type !== "account") return false
  for (const own of world.rules) {
    if (!own.alive || own.org !== org || own.subject !== who || own.level !== "admin") continue
    if (own.project === "*" && own.env === "*") return true
    if (own.project === rule.project && own.env === rule.env) return true
  }
  return false
}

const mayManageRules = (world: World, org: Org, who: User | Account): boolean => {
  if (who.type === "user") return isAdmin(org, who)
  if (who.project !== null) return false
  return world.rules.some((rule) => rule.alive && rule.subject === who && rule.level === "admin")
}

const enterOrg = (world: World, caller: Caller, name: string) => {
  const who = behind(caller)
  if (who === undefined) return no(401)
  const org = liveOrg(world, name)
  if (org === undefined || !knows(org, who)) return no(404)
  return { status: 0, who, org } as const
}

const enterProject = (world: World, caller: Caller, orgName: string, name: string) => {
  const at = enterOrg(world, caller, orgName)
  if (at.status !== 0) return at
  const project = at.org.projects.find((one) => one.name === name)
  if (project === undefined || !knowsProject(project, at.who)) return no(404)
  return { ...at, project }
}

export interface At {
  readonly org: string
  readonly project: string
  readonly env: string
}

const enterEnv = (world: World, caller: Caller, place: At) => {
  const at = enterProject(world, caller, place.org, place.project)
  if (at.status !== 0) return at
  const env = at.project.envs.find((one) => one.name === place.env)
  if (env === undefined) return no(404)
  return { ...at, env, level: levelAt(world, at.org, at.project, env, at.who) }
}

const owners = (org: Org): number => org.members.filter(({ role }) => role === "owner").length

const endRules = (world: World, org: Org, subject: User | Account) => {
  for (const rule of world.rules) if (rule.org === org && rule.subject === subject) rule.alive = false
}

// Organizations

/** Whether a name is kept for those who could bring back a removed organization. */
const isKept = (world: World, name: string, who: User | Account): boolean =>
  world.orgs.some((org) => !org.alive && org.name === name && !isOwner(org, who))

export const createOrg = (world: World, caller: Caller, name: string): Answer<Org> => {
  const who = behind(caller)
  if (who === undefined) return no(401)
  if (who.type === "account") return no(403)
  if (liveOrg(world, name) !== undefined || isKept(world, name, who)) return no(409)
  const made: Org = { name, alive: true, members: [{ user: who, role: "owner" }], projects: [] }
  world.orgs.push(made)
  return { status: 200, made }
}

export const renameOrg = (world: World, caller: Caller, name: string, to: string): Answer => {
  const at = enterOrg(world, caller, name)
  if (at.status !== 0) return at
  if (!isOwner(at.org, at.who)) return no(403)
  const other = liveOrg(world, to)
  if ((other !== undefined && other !== at.org) || isKept(world, to, at.who)) return no(409)
  at.org.name = to
  return yes
}

export const deleteOrg = (world: World, caller: Caller, name: string): Answer => {
  const at = enterOrg(world, caller, name)
  if (at.status !== 0) return at
  if (!isOwner(at.org, at.who)) return no(403)
  at.org.alive = false
  return yes
}

/** The names of the organizations that a caller is shown. */
export const listOrgs = (world: World, caller: Caller): Answer<ReadonlyArray<string>> => {
  const who = behind(caller)
  if (who === undefined) return no(401)
  return { status: 200, made: world.orgs.filter((org) => org.alive && knows(org, who)).map(({ name }) => name) }
}

// Members

export const invite = (world: World, caller: Caller, name: string, user: User, role: Role): Answer => {
  const at = enterOrg(world, caller, name)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  if (role === "owner" && !isOwner(at.org, at.who)) return no(403)
  if (roleIn(at.org, user) !== undefined) return no(409)
  at.org.members.push({ user, role })
  return yes
}

export const setRole = (world: World, caller: Caller, name: string, user: User, role: Role): Answer => {
  const at = enterOrg(world, caller, name)
  if (at.status !== 0) return at
  if (!isOwner(at.org, at.who)) return no(403)
  const member = at.org.members.find((one) => one.user === user)
  if (member === undefined) return no(404)
  if (member.role === "owner" && role !== "owner" && owners(at.org) === 1) return no(409)
  member.role = role
  return yes
}

export const removeMember = (world: World, caller: Caller, name: string, user: User): Answer => {
  const at = enterOrg(world, caller, name)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  const role = roleIn(at.org, user)
  if (role === undefined) return no(404)
  if (role === "owner" && !isOwner(at.org, at.who)) return no(403)
  if (role === "owner" && owners(at.org) === 1) return no(409)
  at.org.members = at.org.members.filter((member) => member.user !== user)
  endRules(world, at.org, user)
  return yes
}

export const listMembers = (world: World, caller: Caller, name: string): Answer<ReadonlyArray<string>> => {
  const at = enterOrg(world, caller, name)
  if (at.status !== 0) return at
  if (at.who.type === "account") return no(403)
  return { status: 200, made: at.org.members.map(({ role, user }) => `${user.n} ${role}`) }
}

/** The audit log, the machines: for admins. */
export const administer = (world: World, caller: Caller, name: string): Answer => {
  const at = enterOrg(world, caller, name)
  if (at.status !== 0) return at
  return isAdmin(at.org, at.who) ? yes : no(403)
}

// Projects and environments

export const createProject = (world: World, caller: Caller, org: string, name: string): Answer<Project> => {
  const at = enterOrg(world, caller, org)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  if (at.org.projects.some((project) => project.name === name)) return no(409)
  const made = { name, envs: ["dev", "staging", "prod"].map((env): Env => ({ name: env, secrets: [] })) }
  at.org.projects.push(made)
  return { status: 200, made }
}

export const renameProject = (world: World, caller: Caller, org: string, name: string, to: string): Answer => {
  const at = enterProject(world, caller, org, name)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  if (at.org.projects.some((project) => project.name === to && project !== at.project)) return no(409)
  at.project.name = to
  return yes
}

export const deleteProject = (world: World, caller: Caller, org: string, name: string): Answer => {
  const at = enterProject(world, caller, org, name)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  at.org.projects = at.org.projects.filter((project) => project !== at.project)
  return yes
}

export const listProjects = (world: World, caller: Caller, org: string): Answer<ReadonlyArray<string>> => {
  const at = enterOrg(world, caller, org)
  if (at.status !== 0) return at
  return {
    status: 200,
    made: at.org.projects.filter((project) => knowsProject(project, at.who)).map(({ name }) => name)
  }
}

export const listEnvs = (world: World, caller: Caller, org: string, name: string): Answer<ReadonlyArray<string>> => {
  const at = enterProject(world, caller, org, name)
  if (at.status !== 0) return at
  return { status: 200, made: at.project.envs.map((env) => env.name) }
}

export const createEnv = (world: World, caller: Caller, place: At): Answer => {
  const at = enterProject(world, caller, place.org, place.project)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  if (at.project.envs.some((env) => env.name === place.env)) return no(409)
  at.project.envs.push({ name: place.env, secrets: [] })
  return yes
}

export const deleteEnv = (world: World, caller: Caller, place: At): Answer => {
  const at = enterEnv(world, caller, place)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  at.project.envs = at.project.envs.filter((env) => env !== at.env)
  return yes
}

// Machines

export const createAccount = (
  world: World,
  caller: Caller,
  org: string,
  request: { readonly name: string; readonly project: string | undefined; readonly reveal: boolean }
): Answer<Account> => {
  const at = enterOrg(world, caller, org)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  const project = at.org.projects.find((one) => one.name === request.project)
  if (request.project !== undefined && project === undefined) return no(404)
  if (world.accounts.some((one) => one.alive && one.org === at.org && one.name === request.name)) return no(409)
  const { name, reveal } = request
  const made: Account = { type: "account", org: at.org, name, project: project ?? null, reveal, alive: true }
  world.accounts.push(made)
  world.keys.push({ account: made, good: true })
  return { status: 200, made }
}

export const rotate = (world: World, caller: Caller, org: string, account: Account, grace: boolean): Answer<Key> => {
  const at = enterOrg(world, caller, org)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  if (!account.alive || account.org !== at.org) return no(404)
  if (!grace) for (const key of world.keys) if (key.account === account) key.good = false
  const made = { account, good: true }
  world.keys.push(made)
  return { status: 200, made }
}

export const revokeAccount = (world: World, caller: Caller, org: string, account: Account): Answer => {
  const at = enterOrg(world, caller, org)
  if (at.status !== 0) return at
  if (!isAdmin(at.org, at.who)) return no(403)
  if (!account.alive || account.org !== at.org) return no(404)
  account.alive = false
  endRules(world, at.org, account)
  return yes
}

// Rules

export const grant = (
  world: World,
  caller: Caller,
  org: string,
  request: Pick<Rule, "subject" | "project" | "env" | "level">
): Answer<Rule> => {
  const at = enterOrg(world, caller, org)
  if (at.status !== 0) return at
  if (!mayManageRules(world, at.org, at.who)) return no(403)
  if (at.who.type === "account" && !machineManages(world, at.org, at.who, request)) return no(403)
  const { env, level, project, subject } = request
  const there =
    subject.type === "user" ? roleIn(at.org, subject) !== undefined : subject.alive && subject.org === at.org
  if (!there) return no(404)
  for (const rule of world.rules) {
    if (!rule.alive || rule.org !== at.org || rule.subject !== subject) continue
    if (rule.project !== project || rule.env !== env) continue
    rule.level = level
    return { status: 200, made: rule }
  }
  const made: Rule = { org: at.org, subject, project, env, level, alive: true }
  world.rules.push(made)
  return { status: 200, made }
}

export const revoke = (world: World, caller: Caller, org: string, rule: Rule | undefined): Answer => {
  const at = enterOrg(world, caller, org)
  if (at.status !== 0) return at
  if (!mayManageRules(world, at.org, at.who)) return no(403)
  if (rule === undefined || !rule.alive || rule.org !== at.org) return no(404)
  if (at.who.type === "account" && !machineManages(world, at.org, at.who, rule)) return no(404)
  rule.alive = false
  return yes
}

/** The rules that a caller is shown. */
export const listRules = (world: World, caller: Caller, name: string): Answer<ReadonlyArray<Rule>> => {
  const at = enterOrg(world, caller, name)
  if (at.status !== 0) return at
  const { org, who } = at
  if (!mayManageRules(world, org, who)) return no(403)
  const all = world.rules.filter((rule) => rule.alive && rule.org === org)
  return {
    status: 200,
    made: who.type === "user" ? all : all.filter((rule) => machineManages(world, org, who, rule))
  }
}

// Secrets

export const listSecrets = (world: World, caller: Caller, place: At): Answer<ReadonlyArray<string>> => {
  const at = enterEnv(world, caller, place)
  if (at.status !== 0) return at
  if (at.level < 1) return no(403)
  return { status: 200, made: at.env.secrets.map(({ key, version }) => `${key} ${version}`) }
}

/** Returns the values of an environment that a caller gets. */
export const readAll = (world: World, caller: Caller, place: At): Answer<ReadonlyArray<string>> => {
  const at = enterEnv(world, caller, place)
  if (at.status !== 0) return at
  if (at.level < 1 || (at.who.type === "account" && !at.who.reveal)) return no(403)
  return { status: 200, made: at.env.secrets.map(({ key, value, version }) => `${key} ${version} ${value}`) }
}

export const readSecret = (world: World, caller: Caller, place: At, key: string): Answer<string> => {
  const at = enterEnv(world, caller, place)
  if (at.status !== 0) return at
  if (at.level < 1 || (at.who.type === "account" && !at.who.reveal)) return no(403)
  const secret = at.env.secrets.find((one) => one.key === key)
  return secret === undefined ? no(404) : { status: 200, made: `${secret.version} ${secret.value}` }
}

export const setSecret = (world: World, caller: Caller, place: At, key: string, value: string): Answer => {
  const at = enterEnv(world, caller, place)
  if (at.status !== 0) return at
  if (at.level < 2) return no(403)
  const secret = at.env.secrets.find((one) => one.key === key)
  if (secret === undefined) at.env.secrets.push({ key, value, version: 1 })
  else {
    secret.version++
    secret.value = value
  }
  return yes
}

export const removeSecret = (world: World, caller: Caller, place: At, key: string): Answer => {
  const at = enterEnv(world, caller, place)
  if (at.status !== 0) return at
  if (at.level < 2) return no(403)
  if (!at.env.secrets.some((one) => one.key === key)) return no(404)
  at.env.secrets = at.env.secrets.filter((one) => one.key !== key)
  return yes
}

/** Whether a caller has a level at a place, as a status. */
export const reaches = (world: World, caller: Caller, place: At, level: Level): Answer => {
  const at = enterEnv(world, caller, place)
  if (at.status !== 0) return at
  return at.level > levels.indexOf(level) ? yes : no(403)
}
