import { inStageOrder } from "@coffer/domain/directory/EnvironmentOrder"

interface Ending {
  readonly name: string
  readonly position?: number
  readonly expires_at?: string
}

/** Whether an environment ends. */
export const ends = ({ expires_at }: Pick<Ending, "expires_at">): boolean => expires_at !== undefined

/** Orders environments as the matrix does: those that last, by stage, and then those that end. */
export const endingLast = <A extends Ending>(environments: ReadonlyArray<A>): ReadonlyArray<A> => {
  const ordered = inStageOrder(environments)
  return [...ordered.filter((one) => !ends(one)), ...ordered.filter(ends)]
}
