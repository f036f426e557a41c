import type { Notice } from "../../base/mail/Mailer.js"
import type { PlacedRow } from "./Repo.js"

export const mailEveryMillis = 24 * 60 * 60_000
/** How many tries in a row fail before the owners are mailed. */
export const failuresToMail = 2

/** The mail to the owners of an organization about a turn that fails. */
export const failureMail = (
  { connection, env, name, org, project }: PlacedRow,
  problem: string,
  isPaused: boolean
): Omit<Notice, "to"> => ({
  subject: isPaused ? "Coffer has paused the rotation of a credential" : "Coffer cannot rotate a credential",
  text: `The rotation ${name} of ${org}/${project}/${env} by the connection ${connection} fails: ${problem}.

Programs keep the last credential that worked. ${isPaused ? "Nothing is tried again until somebody resumes it:" : "The server tries again, at most every 6 hours. Look at it with:"}

  coffer rotation ${isPaused ? "resume" : "show"} ${name} --org ${org} --project ${project} --env ${env}

This mail goes to the organization's owners, at most once a day for a rotation.
`
})
