const production = /^(prod|live)/

/** The usual names of stages, from the first to the last. Other environments follow them, by name. */
const stages = [/^(local|dev)/, /^(test|ci)/, /^qa/, /^(stag|stg|uat)/, /^(preview|pre)/, production]

/** Whether an environment has the usual name of production, such as `prod`, `production` or `live-eu`. */
export const isNamedProduction = (name: string): boolean => production.test(name)

const rankOf = (name: string): number => {
  const rank = stages.findIndex((pattern) => pattern.test(name))
  return rank === -1 ? stages.length : rank
}

interface Named {
  readonly name: string
  /** Its position in the project's own order, which comes first. */
  readonly position?: number | null
}

const byStage = (a: Named, b: Named): number =>
  (a.position ?? Number.MAX_SAFE_INTEGER) - (b.position ?? Number.MAX_SAFE_INTEGER) ||
  rankOf(a.name) - rankOf(b.name) ||
  (a.name < b.name ? -1 : 1)

/** Returns environments as the project orders them, the others by stage, then by name: every list has this order. */
export const inStageOrder = <A extends Named>(environments: ReadonlyArray<A>): ReadonlyArray<A> =>
  [...environments].sort(byStage)

interface Placed extends Pick<Named, "position"> {
  readonly project: string
  readonly env: string
}

const named = ({ env, position }: Placed): Named => ({ name: env, ...(position !== undefined && { position }) })

/** Orders a list over several projects, the environments of each as `inStageOrder` does. */
export const inPlaceOrder = <A extends Placed>(places: ReadonlyArray<A>): ReadonlyArray<A> =>
  [...places].sort((a, b) => (a.project === b.project ? byStage(named(a), named(b)) : a.project < b.project ? -1 : 1))
