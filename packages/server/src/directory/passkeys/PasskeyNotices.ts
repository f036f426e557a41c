import type { UserActor } from "@coffer/domain/access/Actor"
import type { Notice } from "../../base/mail/Mailer.js"

const ifNotYou = "If this was not you, end your sessions, and tell the operator of the server."

/** The mails about the passkeys of a person, who may not be the one who did it. */
export const registeredNotice = ({ email }: UserActor, name: string): Notice => ({
  to: email,
  subject: "A passkey was registered for your Coffer account",
  text: `The passkey ${name} was registered for ${email} on Coffer.

From now on, calls that need a recent login need one of your passkeys.

${ifNotYou}
`
})

export const removedNotice = ({ email }: UserActor, name: string, isRecovery: boolean): Notice => ({
  to: email,
  subject: "A passkey of your Coffer account was removed",
  text: `The passkey ${name} of ${email} was removed on Coffer${isRecovery ? ", by a login without a passkey" : ""}.

${ifNotYou}
`
})
