export type Counted = "allocated" | "commits" | "statements" | "steps" | "walBytes"

export type Kind = Counted | "processor"

/** What a request costs, by kind and row. */
export type Costs = { readonly [kind in Kind]?: Readonly<Record<string, number>> }

export interface Regression {
  readonly row: string
  readonly kind: Kind
  readonly before: number
  readonly cost: number
}

interface Result {
  readonly row: string
  /** The request that the row is about. */
  readonly kind?: string
  readonly counted?: { readonly [counted in Counted]?: number }
  readonly processor?: number
}

export declare const tolerances: Readonly<Record<Kind, number>>
export declare const maxTries: number
export declare const costs: (results: ReadonlyArray<Result>) => Record<Kind, Record<string, number>>
export declare const regressions: (recorded: Costs, measured: Costs) => Array<Regression>
export declare const findRegressions: (
  recorded: Costs,
  measure: (attempt: number) => Promise<Costs>
) => Promise<Array<Regression>>
export declare const merge: (one: Costs, other: Costs) => Record<Kind, Record<string, number>>
