import { RecentLogin } from "@coffer/domain/api/Requirement"
import { Api } from "@coffer/domain/Api"
import * as HttpApi from "@effect/platform/HttpApi"
import * as Context from "effect/Context"
import * as Option from "effect/Option"

/**
 * Every call of the contract that changes something, and how the console makes it:
 *
 * - `asks`: it ends, removes or replaces something that no other call brings back as it was. Only the answer to a question
 *   sends it. With a body, the row is for calls with that body.
 * - `undone CALL`: that call takes it back.
 * - `decides`: the person decides on what the page shows, each time with a recent login.
 * - `adds`: it begins, proves, sends or stores something, and ends nothing.
 * - `absent`: the console does not make it.
 */
const table = `
acl.grant                              undone acl.revoke
acl.revoke                             asks
approvals.approve                      decides
approvals.refuse                       asks
auth.device                            absent
auth.endSession                        asks
auth.endSessions                       asks
auth.federate                          absent
auth.login                             adds
auth.logout                            undone auth.verify
auth.token                             absent
auth.verify                            adds
backups.create                         adds
backups.drill                          adds
backups.restore                        adds
declared.delete                        asks
declared.set                           undone declared.set
delegations.create                     undone delegations.revoke
delegations.revoke                     asks
dues.update                            undone dues.update
environments.copy                      undone environments.revert
environments.create                    undone environments.delete
environments.delete                    asks
environments.extend                    undone environments.extend
environments.revert                    undone environments.revert
environments.writeBundle               undone environments.revert
exports.approve                        absent
exports.create                         absent
exports.end                            absent
federations.create                     undone federations.revoke
federations.revoke                     asks
federations.try                        adds
groups.addMember                       undone groups.removeMember
groups.create                          undone groups.remove
groups.remove                          asks
groups.removeMember                    undone groups.addMember
groups.rename                          undone groups.rename
groups.setMappings                     undone groups.setMappings
groups.setMappings {"mappings":[]}     asks
groups.setMembers                      absent
imports.abandon                        absent
imports.create                         absent
imports.declared                       absent
imports.finish                         absent
imports.secrets                        absent
members.invite                         undone members.remove
members.leave                          asks
members.remove                         asks
members.setRole                        asks
organizations.create                   undone organizations.delete
organizations.delete                   asks
organizations.update                   undone organizations.update
passkeys.challenge                     adds
passkeys.create                        undone passkeys.delete
passkeys.delete                        asks
passkeys.options                       adds
passkeys.verify                        adds
previews.remove                        asks
previews.set                           undone previews.remove
projects.create                        undone projects.delete
projects.delete                        asks
projects.rename                        undone projects.rename
protections.remove                     asks
protections.set                        undone protections.set
requests.approve                       decides
requests.create                        undone requests.withdraw
requests.refuse                        asks
requests.withdraw                      asks
secrets.delete                         absent
secrets.destroy                        asks
secrets.rollback                       undone secrets.rollback
secrets.set                            absent
secrets.undelete                       undone secrets.delete
serviceAccounts.create                 undone serviceAccounts.revoke
serviceAccounts.revoke                 asks
serviceAccounts.rotate                 asks
serviceAccounts.update                 undone serviceAccounts.update
trash.eraseEnvironment                 asks
trash.eraseOrganization                asks
trash.eraseProject                     asks
trash.restoreEnvironment               undone environments.delete
trash.restoreOrganization              undone organizations.delete
trash.restoreProject                   undone projects.delete
use.use                                absent
useRules.create                        undone useRules.delete
useRules.delete                        asks
useRules.update                        absent
users.disable                          asks
users.enable                           undone users.disable
users.endSessions                      asks
webhooks.create                        undone webhooks.delete
webhooks.delete                        asks
webhooks.rotateKey                     asks
webhooks.sendAgain                     adds
webhooks.test                          adds
webhooks.update                        undone webhooks.update
webhooks.update {"enabled":false}      asks
`

export type Kind = "absent" | "adds" | "asks" | "decides" | "undone"

export interface ChangingCall {
  /** The call and, where only some bodies are meant, the body: what a row begins with. */
  readonly name: string
  readonly call: string
  readonly body: string | undefined
  readonly kind: string
  /** The call that takes it back. */
  readonly by: string | undefined
}

export const changingCalls: ReadonlyArray<ChangingCall> = table
  .trim()
  .split("\n")
  .map((line) => {
    const [, call = "", body, kind = "", by] = /^(\S+)(?: (\{\S+))? +(\S+)(?: (\S+))?$/.exec(line) ?? []
    return { name: body === undefined ? call : `${call} ${body}`, call, body, kind, by }
  })

export const kinds: ReadonlyArray<string> = ["absent", "adds", "asks", "decides", "undone"] satisfies Array<Kind>

interface Endpoint {
  readonly call: string
  readonly method: string
  readonly path: string
  readonly recentLogin: string | undefined
}

const endpoints: Array<Endpoint> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint, group, mergedAnnotations }) => {
    endpoints.push({
      call: `${group.identifier}.${endpoint.name}`,
      method: endpoint.method,
      path: endpoint.path,
      recentLogin: Option.getOrUndefined(Context.getOption(mergedAnnotations, RecentLogin))
    })
  }
})

/** The calls of the contract that may change something. */
export const mutating: ReadonlyArray<Endpoint> = endpoints.filter(({ method }) => method !== "GET")

/** Checks whether a call ends something by its method, or by the last word of its path. */
export const isEnding = ({ method, path }: Endpoint): boolean =>
  method === "DELETE" ||
  /\/(abandon|cancel|clear|close|decline|delete|destroy|disable|drop|end|erase|expire|forget|leave|purge|refuse|reject|remove|replace|reset|revoke|rotate|stop|wipe|withdraw)(-[a-z]+)?$/.test(
    path
  )

/** A path without parameters comes before one with them, as the server has it. */
const routes = mutating
  .map(({ call, method, path }) => ({
    call,
    method,
    parameters: path.split(":").length,
    is: new RegExp(`^${path.replaceAll(/:[a-z_]+/g, "[^/]+")}$`)
  }))
  .sort((one, other) => one.parameters - other.parameters)

/** Returns the row of a request; undefined if the request is no call of the contract that may change something. */
export const rowOf = (method: string, pathname: string, body: string): ChangingCall | undefined => {
  const call = routes.find((one) => one.method === method && one.is.test(pathname))?.call
  const rows = changingCalls.filter((row) => row.call === call)
  return rows.find((row) => row.body === body) ?? rows.find((row) => row.body === undefined)
}
