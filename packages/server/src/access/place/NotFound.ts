import { NotFound } from "@coffer/domain/errors/Errors"

/** For something in a place that the caller has entered. */
export const notFound = (what: string) => new NotFound({ message: `${what} does not exist` })

/** For a place. The message does not reveal whether it exists. */
export const notVisible = (what: string) => new NotFound({ message: `${what} does not exist, or is not yours to see` })
