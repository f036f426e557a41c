/** Why a session that was proven long ago may make a call that changes something: it gives nobody lasting power. */
export const reasons = {
  begins: "nobody is known yet",
  proves: "it is how a session is proven",
  ends: "it takes a right or a credential away, and whoever stops a leak must not be held up",
  secrets: "it is daily work with secrets: their values change, and nobody's rights do",
  empty: "a new place or group is empty, and its name gives nobody a right",
  begun: "it belongs to a transfer that began with a recent login",
  asks: "it asks: people who vote give the right, each with a recent login",
  sends: "it sends or tries again what was set up with a recent login"
} as const

/** Every call that changes something: the rule of its recent login, and the reason if it needs none. */
export const recentLogins = `
acl.grant                  always
acl.revoke                 never ends
approvals.approve          always
approvals.refuse           never ends
auth.device                never begins
auth.endSession            never ends
auth.endSessions           never ends
auth.federate              never begins
auth.login                 never begins
auth.logout                never ends
auth.token                 never begins
auth.verify                never begins
backups.create             always
backups.drill              always
backups.restore            always
declared.delete            never secrets
declared.set               never secrets
delegations.create         always
delegations.revoke         never ends
dues.update                never secrets
environments.copy          never secrets
environments.create        never secrets
environments.delete        always
environments.extend        handler
environments.revert        never secrets
environments.writeBundle   never secrets
exports.approve            always
exports.create             always
exports.end                never ends
federations.create         always
federations.revoke         never ends
federations.try            never sends
groups.addMember           always
groups.create              never empty
groups.remove              always
groups.removeMember        never ends
groups.rename              always
groups.setMappings         always
groups.setMembers          always
imports.abandon            never begun
imports.create             always
imports.declared           never begun
imports.finish             never begun
imports.secrets            never begun
members.invite             always
members.leave              always
members.remove             always
members.setRole            always
organizations.create       never empty
organizations.delete       always
organizations.update       always
passkeys.challenge         never proves
passkeys.create            always
passkeys.delete            recovery
passkeys.options           always
passkeys.verify            never proves
previews.remove            always
previews.set               always
projects.create            never empty
projects.delete            always
projects.rename            always
protections.remove         always
protections.set            always
requests.approve           always
requests.create            never asks
requests.refuse            always
requests.withdraw          never ends
secrets.delete             never secrets
secrets.destroy            always
secrets.rollback           never secrets
secrets.set                never secrets
secrets.undelete           never secrets
serviceAccounts.create     always
serviceAccounts.revoke     always
serviceAccounts.rotate     always
serviceAccounts.update     always
trash.eraseEnvironment     always
trash.eraseOrganization    always
trash.eraseProject         always
trash.restoreEnvironment   always
trash.restoreOrganization  always
trash.restoreProject       always
use.use                    never secrets
useRules.create            always
useRules.delete            never ends
useRules.update            always
users.disable              always
users.enable               always
users.endSessions          never ends
webhooks.create            always
webhooks.delete            never ends
webhooks.rotateKey         always
webhooks.sendAgain         never sends
webhooks.test              never sends
webhooks.update            always
`
  .trim()
  .split("\n")
  .map((line) => {
    const [call = "", rule = "", reason] = line.split(/ +/)
    return { call, rule, reason }
  })
