import { NotImplemented } from "@coffer/domain/Errors"

/** The answer of a call that the contract has and this server does not offer yet. */
export const notYet = new NotImplemented({ message: "this server does not offer this call yet" })
