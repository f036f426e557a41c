/** WHO on the command line: a person by e-mail address, `group:NAME` or `account:NAME`. */
import { Email, GroupName } from "@coffer/domain/base/Names"
import * as Either from "effect/Either"
import { argument, codecOf, optionalArgument } from "../grammar/Fields.js"
import { type Codec, completedBy, orOld } from "../grammar/Specs.js"
import { email, groupOption, NameOrId, serviceAccount } from "./Subjects.js"

/** The subject that a command line names. Exactly one of the three is given. */
export interface Who {
  readonly email: Email | undefined
  readonly serviceAccount: NameOrId | undefined
  readonly group: GroupName | undefined
}

const nobody: Who = { email: undefined, serviceAccount: undefined, group: undefined }

const codecs = { email: codecOf(Email), account: codecOf(NameOrId), group: codecOf(GroupName) }

export const whoForm = "an e-mail address, group:NAME or account:NAME"

/** Whether a text can be nothing but WHO. */
export const isWho = (text: string): boolean => text.includes("@") || /^(?:group|account):/.test(text)

export const who: Codec<Who> = {
  value: "text",
  description: "",
  decode: (name, text) => {
    const [, kind, rest = ""] = /^(group|account):(.*)$/s.exec(text) ?? []
    if (kind === "group") return Either.map(codecs.group.decode(name, rest), (group) => ({ ...nobody, group }))
    if (kind === "account") {
      return Either.map(codecs.account.decode(name, rest), (serviceAccount) => ({ ...nobody, serviceAccount }))
    }
    return text.includes("@")
      ? Either.map(codecs.email.decode(name, text), (email) => ({ ...nobody, email }))
      : Either.left(`${name} must be ${whoForm}`)
  }
}

/** The options of earlier releases that name a subject. */
export const oldWho = { email, serviceAccount, group: groupOption }

/** The subject that one of these options names. */
export const oneWho = (options: Who): Either.Either<Who, string> =>
  Object.values(options).filter((each) => each !== undefined).length === 1
    ? Either.right(options)
    : Either.left("name one subject: --email, --service-account or --group")

const alone = "an e-mail address or account:NAME"

/** A person or an account: a group has no rights to explain. */
const aloneCodec: Codec<Who> = {
  ...who,
  decode: (name, text) =>
    text.startsWith("group:") || !isWho(text) ? Either.left(`${name} must be ${alone}`) : who.decode(name, text)
}

const oldAlone = { email, serviceAccount }

const oneAlone = (options: Pick<Who, "email" | "serviceAccount">): Either.Either<Who, string> =>
  (options.email === undefined) === (options.serviceAccount === undefined)
    ? Either.left("name one subject: either --email or --service-account")
    : Either.right({ ...nobody, ...options })

export const personOrAccount = orOld(
  completedBy("who", argument("WHO", aloneCodec, `Who: ${alone}`)),
  oldAlone,
  oneAlone
)

export const optionalPersonOrAccount = orOld(
  completedBy("who", optionalArgument("WHO", aloneCodec, `Who: ${alone}; without it, you`)),
  oldAlone,
  oneAlone
)
