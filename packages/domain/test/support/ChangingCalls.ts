/** Why a session that was proven long ago may make a call that changes something: it gives nobody lasting power. */
export const loginReasons = {
  begins: "nobody is known yet",
  proves: "it is how a session is proven",
  shows: "it reads what a program asks for, and changes nothing",
  ends: "it takes a right or a credential away, and whoever stops a leak must not be held up",
  secrets: "it is daily work with secrets: their values change, and nobody's rights do",
  empty: "a new place or group is empty, and its name gives nobody a right",
  begun: "it belongs to a transfer that began with a recent login",
  records: "it makes an entry of the log, and changes nobody's rights",
  asks: "it asks: people who vote give the right, each with a recent login",
  sends: "it sends or tries again what was set up with a recent login"
} as const

/** Why a call makes no record of archives. */
export const archiveReasons = {
  connections: "a connection reaches a network that another server may not have",
  archives: "it makes or takes an archive",
  delegations: "a delegation belongs to a person",
  deliveries: "deliveries stay behind",
  elsewhere: "a request to elsewhere leaves a log entry alone",
  erases: "it erases",
  keys: "keys stay behind",
  nothing: "it stores nothing",
  people: "people belong to the server",
  requests: "requests stay behind; what they apply is another call's",
  server: "backups are of the server",
  sessions: "sessions stay behind",
  targets: "targets stay behind: the new server is told where its values go",
  trash: "what is removed stays behind"
} as const

/**
 * Every call of the contract that changes something. Columns are two spaces apart:
 *
 * 1. The call, with a body if the row is for calls with that body alone.
 * 2. Its rule of a recent login, as in the contract; `never` with a reason of `loginReasons`.
 * 3. How the console makes it:
 *    - `asks`: it ends, removes or replaces something that no other call brings back as it was. Only the answer to a question
 *      sends it.
 *    - `undone CALL`: that call takes it back.
 *    - `decides`: the person decides on what the page shows, each time with a recent login.
 *    - `adds`: it begins, proves, sends or stores something, and ends nothing.
 *    - `absent`: the console does not make it.
 * 4. Which record of archives it makes: a `record` by its own rules; `as CALL` by those of another; `none` with a reason of
 *    `archiveReasons`. An import refuses what the call refuses.
 */
const table = `
acl.grant                           always         undone acl.revoke              record
acl.review                          never records  adds                           none nothing
acl.revoke                          never ends     asks                           -
approvals.approve                   always         decides                        none requests
approvals.refuse                    never ends     asks                           none requests
auth.device                         never begins   absent                         none sessions
auth.endSession                     never ends     asks                           -
auth.endSessions                    never ends     asks                           -
auth.federate                       never begins   absent                         none sessions
auth.login                          never begins   adds                           none sessions
auth.logout                         never ends     undone auth.verify             -
auth.token                          never begins   absent                         none sessions
auth.verify                         never begins   adds                           none sessions
backups.create                      always         adds                           none server
backups.drill                       always         adds                           none server
backups.restore                     always         adds                           none server
consents.create                     always         undone delegations.revoke      none delegations
consents.review                     never shows    adds                           none nothing
connections.create                  always         undone connections.delete      none connections
connections.delete                  never ends     asks                           -
connections.removeOrphan            always         absent                         -
connections.test                    never sends    adds                           none nothing
declared.delete                     never secrets  asks                           -
declared.set                        never secrets  undone declared.set            record
delegations.create                  always         undone delegations.revoke      none delegations
delegations.revoke                  never ends     asks                           -
dues.update                         never secrets  undone dues.update             record
environments.copy                   never secrets  undone environments.revert     as secrets.set
environments.create                 never secrets  undone environments.delete     record
environments.delete                 always         asks                           -
environments.extend                 handler        undone environments.extend     as environments.create
environments.revert                 never secrets  undone environments.revert     as secrets.set
environments.writeBundle            never secrets  undone environments.revert     record
exports.approve                     always         absent                         none archives
exports.create                      always         absent                         none archives
exports.end                         never ends     absent                         -
federations.create                  always         undone federations.revoke      record
federations.revoke                  never ends     asks                           -
federations.try                     never sends    adds                           none nothing
groups.addMember                    always         undone groups.removeMember     as groups.setMembers
groups.create                       never empty    undone groups.remove           record
groups.remove                       always         asks                           -
groups.removeMember                 never ends     undone groups.addMember        -
groups.rename                       always         undone groups.rename           as groups.create
groups.setMappings                  always         undone groups.setMappings      record
groups.setMappings {"mappings":[]}  -              asks                           -
groups.setMembers                   always         absent                         record
imports.abandon                     never begun    absent                         -
imports.create                      always         absent                         none archives
imports.declared                    never begun    absent                         none archives
imports.finish                      never begun    absent                         none archives
imports.secrets                     never begun    absent                         none archives
leaseRoles.create                   always         undone leaseRoles.delete       none connections
leaseRoles.delete                   never ends     asks                           -
leases.create                       never begins   absent                         none connections
leases.renew                        never begins   absent                         none connections
leases.revoke                       never ends     asks                           -
members.invite                      always         undone members.remove          record
members.leave                       always         asks                           -
members.remove                      always         asks                           -
members.setRole                     always         asks                           as members.invite
organizations.create                never empty    undone organizations.delete    record
organizations.delete                always         asks                           -
organizations.update                always         undone organizations.update    record
passkeys.challenge                  never proves   adds                           none people
passkeys.create                     always         undone passkeys.delete         none people
passkeys.delete                     recovery       asks                           -
passkeys.options                    always         adds                           none people
passkeys.verify                     never proves   adds                           none people
previews.remove                     always         asks                           -
previews.set                        always         undone previews.remove         record
projects.create                     never empty    undone projects.delete         record
projects.delete                     always         asks                           -
projects.rename                     always         undone projects.rename         record
protections.remove                  always         asks                           -
protections.set                     always         undone protections.set         record
requests.approve                    always         decides                        none requests
requests.create                     never asks     undone requests.withdraw       none requests
requests.refuse                     always         asks                           none requests
requests.withdraw                   never ends     asks                           none requests
rotations.create                    always         undone rotations.delete        none connections
rotations.delete                    never ends     asks                           -
rotations.run                       always         adds                           none nothing
rotations.update                    always         undone rotations.update        none connections
secrets.delete                      never secrets  absent                         -
secrets.destroy                     always         asks                           none erases
secrets.rollback                    never secrets  undone secrets.rollback        as secrets.set
secrets.set                         never secrets  absent                         record
secrets.undelete                    never secrets  undone secrets.delete          as secrets.set
serviceAccounts.create              always         undone serviceAccounts.revoke  record
serviceAccounts.revoke              always         asks                           -
scim.disable                        always         absent                         -
scim.enable                         always         absent                         none keys
scim.rotate                         always         absent                         none keys
serviceAccounts.rotate              always         asks                           none keys
serviceAccounts.update              always         undone serviceAccounts.update  as serviceAccounts.create
targets.check                       never sends    adds                           none elsewhere
targets.create                      always         undone targets.delete          none targets
targets.delete                      never ends     asks                           -
targets.plan                        never sends    adds                           none elsewhere
targets.push                        never sends    adds                           none elsewhere
targets.update                      always         undone targets.update          none targets
trash.eraseEnvironment              always         asks                           none trash
trash.eraseOrganization             always         asks                           none trash
trash.eraseProject                  always         asks                           none trash
trash.restoreEnvironment            always         undone environments.delete     none trash
trash.restoreOrganization           always         undone organizations.delete    none trash
trash.restoreProject                always         undone projects.delete         none trash
use.use                             never secrets  absent                         none elsewhere
useRules.create                     always         undone useRules.delete         record
useRules.delete                     never ends     asks                           -
useRules.update                     always         undone useRules.update         as useRules.create
users.disable                       always         asks                           none people
users.enable                        always         undone users.disable           none people
users.endSessions                   never ends     asks                           none people
webhooks.create                     always         undone webhooks.delete         record
webhooks.delete                     never ends     asks                           -
webhooks.rotateKey                  always         asks                           none keys
webhooks.sendAgain                  never sends    adds                           none deliveries
webhooks.test                       never sends    adds                           none deliveries
webhooks.update                     always         undone webhooks.update         as webhooks.create
webhooks.update {"enabled":false}   -              asks                           -
`

export const consoleKinds = ["absent", "adds", "asks", "decides", "undone"] as const

export interface ChangingCall {
  /** The call and, where only some bodies are meant, the body: what a row begins with. */
  readonly name: string
  readonly call: string
  readonly body: string | undefined
  readonly recentLogin: string
  readonly loginReason: string | undefined
  /** One of `consoleKinds`. */
  readonly kind: string
  /** The call that takes it back. */
  readonly by: string | undefined
  readonly archive: string
  /** The call whose rules it has, or the reason why it makes no record of archives. */
  readonly archiveBy: string | undefined
}

export const changingCalls: ReadonlyArray<ChangingCall> = table
  .trim()
  .split("\n")
  .map((line) => {
    const [name = "", ...columns] = line.split(/ {2,}/)
    const [call = "", body] = name.split(" ")
    const [recentLogin = "", loginReason] = columns[0]?.split(" ") ?? []
    const [kind = "", by] = columns[1]?.split(" ") ?? []
    const [archive = "", archiveBy] = columns[2]?.split(" ") ?? []
    return { name, call, body, recentLogin, loginReason, kind, by, archive, archiveBy }
  })

/** The rows of whole calls, without those of some bodies. */
export const wholeCalls = changingCalls.filter(({ body }) => body === undefined)
