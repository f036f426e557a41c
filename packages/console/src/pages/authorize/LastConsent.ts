import { DelegablePermission } from "@coffer/domain/directory/Delegation"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { me } from "../../state/Session.js"
import { storedNames, storedText } from "../../state/Stored.js"

const LastConsent = Schema.Struct({
  who: Schema.String,
  client: Schema.String,
  org: OrgName,
  project: ProjectName,
  envs: Schema.Array(EnvName),
  permission: DelegablePermission,
  reveal: Schema.Boolean,
  keys: Schema.String,
  span: Schema.String
})
/** The last choice of a person for a program. It holds names alone. */
export type LastConsent = typeof LastConsent.Type

const List = Schema.parseJson(Schema.Array(LastConsent))
const decode = Schema.decodeUnknownOption(List)
const encode = Schema.encodeSync(List)

const kept = 20

const all = (): ReadonlyArray<LastConsent> => Option.getOrElse(decode(storedText(storedNames.consents)), () => [])

const isOf = (client: string) => (one: LastConsent) => one.client === client && one.who === me.peek()?.id

/** The last choice of the person for a program, in this browser. */
export const lastConsent = (client: string): LastConsent | undefined => all().find(isOf(client))

/** Remembers a choice for the next time that the program asks. */
export const rememberConsent = (choice: Omit<LastConsent, "who">): void => {
  const who = me.peek()?.id
  if (who === undefined) return
  const others = all().filter((one) => !isOf(choice.client)(one))
  Either.try(() => {
    localStorage.setItem(storedNames.consents, encode([{ ...choice, who }, ...others].slice(0, kept)))
  })
}
