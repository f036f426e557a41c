const namesNothing = "the call names nothing but its place, which is in the archive with the record"
const ofDirectory = "a directory manages no group of a new organization"
const votes = "the limit of the requests that wait for votes: an import is not voted on"

/** Why an error of a call has no case. */
export const withoutCase: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "organizations.create": { NOT_FOUND: namesNothing, LIMIT_EXCEEDED: votes },
  "organizations.update": {
    NOT_FOUND: namesNothing,
    LIMIT_EXCEEDED: votes,
    CONFLICT: "the name is as of organizations.create"
  },
  "members.invite": { NOT_FOUND: namesNothing },
  "members.setRole": { LAST_OWNER: "the importer is an owner", CONFLICT: "as of protections.set" },
  "groups.create": { NOT_FOUND: namesNothing },
  "groups.addMember": { LIMIT_EXCEEDED: "as of groups.setMembers", CONFLICT: ofDirectory },
  "groups.setMembers": { CONFLICT: ofDirectory },
  "groups.setMappings": { CONFLICT: ofDirectory },
  "projects.create": { NOT_FOUND: namesNothing },
  "projects.rename": { NOT_FOUND: namesNothing, LIMIT_EXCEEDED: votes, CONFLICT: "the name is as of projects.create" },
  "environments.create": {
    REFERENCE_REFUSED: "it copies secrets, which an archive has as such",
    USE_WIDENS: "it copies secrets, which an archive has as such",
    PATTERN_BROKEN: "it copies secrets, which an archive has as such"
  },
  "protections.set": { NOT_FOUND: namesNothing, LIMIT_EXCEEDED: votes },
  "federations.create": { NOT_FOUND: namesNothing },
  "webhooks.create": { NOT_FOUND: namesNothing },
  "webhooks.update": { CONFLICT: "If-Match: the webhook of an import is new" },
  "declared.set": { NOT_FOUND: namesNothing },
  "secrets.set": {
    NOT_FOUND: namesNothing,
    CONFLICT: "expected_version: an archive has each version by its number",
    USE_WIDENS: "the importer has every value, and makes every rule: nothing is hidden from the importer"
  },
  "environments.writeBundle": {
    NOT_FOUND: namesNothing,
    CONFLICT: "an archive removes nothing, and has each version by its number",
    REFERENCE_REFUSED: "as of secrets.set",
    USE_WIDENS: "as of secrets.set",
    PATTERN_BROKEN: "as of secrets.set",
    LIMIT_EXCEEDED: "as of secrets.set"
  },
  "dues.update": { NOT_FOUND: namesNothing, LIMIT_EXCEEDED: votes },
  "useRules.create": { NOT_FOUND: namesNothing }
}
